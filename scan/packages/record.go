package packages

// Record is one package as a manager's database states it.
type Record struct {
	Manager string
	Name    string
	Version string
	Arch    string
	// Source is the source package, the name alone.
	Source string
	// State is installed, config-files, or the manager's other words.
	State string
	// Depends are the names of the packages that it wants there (Depends,
	// Pre-Depends and Recommends, alternatives included).
	Depends []string
	// Dummy says that the record calls itself a dummy or transitional package.
	Dummy bool
}

// Installed is the state of a package whose files are there.
const Installed = "installed"
