// The program mete.
#include "entry.h"

int main(int argc, char** argv) { return mete::cli::RunMete(argc, argv); }
