const express = require('express'), lodash = require('lodash'), mime = require('mime-types'), ejs = require('ejs');
const handlebars = require('handlebars'), babel = require('@babel/core'), { JSDOM } = require('jsdom');
const app = express();
app.get('/', (request, response) => response.send('hello'));
console.log(lodash.sum([1, 2]), mime.lookup('a.html'), ejs.render('<%= a %>', { a: 1 }), handlebars.compile('{{a}}')({ a: 2 }));
console.log(babel.transformSync('const a = b ?? c', { presets: ['@babel/preset-env'] }).code.length > 20);
console.log(new JSDOM('<p>a</p>').window.document.querySelector('p').textContent);
