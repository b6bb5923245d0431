// Package packages reads the records of package managers inside an image, one
// file a manager. It yields records as they stand; what they mean for the
// driver is for others to say.
package packages
