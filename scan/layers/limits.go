package layers

// maxPathLength is PATH_MAX: no file system can hold a longer one.
const maxPathLength = 4096

// Limits bound what is read of one layer. What a limit hides is reported as
// facts.Incomplete.
type Limits struct {
	// Entries is the number of tar entries.
	Entries int
	// LayerBytes is the size of the uncompressed layer in bytes.
	LayerBytes int64
	// IndexBytes is the size of the path index in bytes.
	IndexBytes int
	// Facts is the number of facts of one kind that are kept.
	Facts int
}

// DefaultLimits are far above what images hold.
func DefaultLimits() Limits {
	return Limits{Entries: 20_000_000, LayerBytes: 1 << 40, IndexBytes: 256 << 20, Facts: 100_000}
}

// maxSparse is how many bytes of the sparse files of a layer are read, holes
// included.
const maxSparse = 64 << 30
