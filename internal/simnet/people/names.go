package people

import "bridged/internal/simnet/wire"

type (
	// Node is a stanza or a part of one.
	Node  = wire.Node
	attrs = wire.Attrs
)
