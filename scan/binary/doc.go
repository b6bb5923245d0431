// Package binary reads what an ELF file says of itself: machine, SONAME,
// NEEDED, search paths, interpreter, and the version strings of NVIDIA's
// resource manager (RM) that tell a driver library from a link-time stub.
//
// A file is read in one pass with bounded memory, or by position where the
// source can seek. Sizes and offsets in headers are hostile: each is checked
// against the file's size and a fixed bound, and what did not fit is said in
// [File.Incomplete], never passed as absent.
package binary
