// Package integration runs gpulint as its users do, on images of real packages
// of Debian, from archives and from a real registry. Its tests build with the
// tag integration, need apt-get and dpkg-deb, and are never skipped.
package integration
