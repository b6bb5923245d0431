// Package facts holds the plain values that flow through gpulint: what a scan
// found in an image ([Image]), what it is judged against ([Target]), what the
// rules see ([Input]) and what is reported ([Report]).
//
// Every value here can be printed as JSON, saved and fed in again. The package
// has types and no behaviour beyond small accessors; it knows no other package
// of the project, and all others may know it.
package facts
