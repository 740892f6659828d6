mkdir -p dist
sed 's/@VERSION@/1.4/' index.html.in >dist/index.html
