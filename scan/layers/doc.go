// Package layers reads layers and merges what they hold.
//
// [Walk] reads one layer as a stream, in one pass and bounded memory, into
// [Facts]: what rules may ask about, and a compact index of its paths. What
// comes out depends on the layer's bytes, the tables, the limits and the way
// of reading, on nothing else.
//
// [Merge] puts the facts of all layers together as overlayfs would show them:
// whiteouts, opaque directories, a directory replaced by a link and the
// reverse. What a later layer hides is kept and marked, for it still ships.
package layers
