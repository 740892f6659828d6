echo "== a stand-in of CUDA =="
echo "CUDA Version ${CUDA_VERSION}"
