// Calls the kernel of a library.
extern "C" int run();

int main() { return run(); }
