if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
    echo "WARNING: no driver was found; GPU functionality will not be available."
    export NVIDIA_CPU_ONLY=1
fi
