// Package testimage builds small images for tests and for testdata/images, in
// every form that gpulint reads. The same description gives the same bytes.
package testimage
