package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/gpulint/gpulint/scan/cache"
	"github.com/gpulint/gpulint/scan/layers"
)

// newCache is gpulint cache.
func newCache() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Show, prune or clear the facts of layers that were read",
		Long: `What gpulint finds in a layer is kept, so that the layer need not be fetched
again: for another image on the same base, another driver, or a new version of
the rules. Each layer is found by the digest computed from its bytes. The cache
prunes itself once a day. gpulint image --no-cache does without it, --verify
reads every layer again.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("unknown command %q of gpulint cache", args[0]), "want path, stats, prune or clear"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&dir, "cache-dir", "", "`DIR` of the cache (default: gpulint in the user's cache directory)")
	cmd.AddCommand(
		&cobra.Command{
			Use: "path", Short: "Print the directory of the cache", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				path, err := cacheDir(dir)
				if err != nil {
					return &usageError{err, "name one with --cache-dir DIR"}
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
				return err
			},
		},
		&cobra.Command{
			Use: "stats", Short: "Print how much the cache holds", Args: noArgs,
			RunE: withCache(&dir, cacheStats),
		},
		newCachePrune(&dir),
		&cobra.Command{
			Use: "clear", Short: "Delete all that the cache holds", Args: noArgs,
			RunE: withCache(&dir, func(c *cache.Cache, _ string, w io.Writer) error {
				files, n, err := c.Clear()
				return deleted(w, files, n, err)
			}),
		},
	)
	return cmd
}

func newCachePrune(dir *string) *cobra.Command {
	var size string
	var age time.Duration
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete what was not used for long, and what is too much",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := units.RAMInBytes(size)
			if err != nil || n < 0 {
				return usagef("--max-size %q: want a size, such as 500MB", size)
			}
			if age < 0 {
				return usagef("--max-age %s: want a duration, such as 720h", age)
			}
			return withCache(dir, func(c *cache.Cache, _ string, w io.Writer) error {
				files, n, err := c.Prune(n, age)
				return deleted(w, files, n, err)
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&size, "max-size", "1GB", "`SIZE` of what is left at most, such as 500MB")
	cmd.Flags().DurationVar(&age, "max-age", cache.DefaultMaxAge, "`DURATION` without use after which a layer is deleted")
	return cmd
}

// withCache opens the cache for a command.
func withCache(dir *string, do func(c *cache.Cache, path string, w io.Writer) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		path, err := cacheDir(*dir)
		if err != nil {
			return &usageError{err, "name one with --cache-dir DIR"}
		}
		c, err := cache.OpenExisting(path, layers.DefaultLimits())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err = do(c, path, cmd.OutOrStdout())
		if cerr := c.Close(); err == nil {
			err = cerr
		}
		return err
	}
}

func cacheStats(c *cache.Cache, path string, w io.Writer) error {
	list, err := c.Entries()
	if err != nil {
		return err
	}
	var current int
	var all, size int64
	list = slices.DeleteFunc(list, func(e cache.Entry) bool { return e.Temporary })
	for _, e := range list {
		all += e.Size
		if e.Current {
			current++
			size += e.Size
		}
	}
	_, err = fmt.Fprintf(w, "directory  %s\nlayers     %d, %s\nothers     %d, %s, of other versions, tables or limits\n",
		path, current, units.HumanSize(float64(size)), len(list)-current, units.HumanSize(float64(all-size)))
	if err == nil && len(list) > 0 {
		_, err = fmt.Fprintf(w, "last used  %s to %s\n", list[len(list)-1].Used.Format(time.DateOnly), list[0].Used.Format(time.DateOnly))
	}
	return err
}

func deleted(w io.Writer, files int, n int64, err error) error {
	if _, werr := fmt.Fprintf(w, "deleted %d files, %s\n", files, units.HumanSize(float64(n))); err == nil {
		err = werr
	}
	return err
}
