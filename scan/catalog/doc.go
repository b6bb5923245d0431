// Package catalog says by name what belongs to the GPU driver: files, SONAMEs
// and packages, and which paths tell what kind of image this is. The tables
// are data (data/*.tsv), each row with its source; a name alone never proves
// a driver file, and each row says which proof it wants.
package catalog
