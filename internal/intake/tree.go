package intake

import "context"

type treeKey struct{}

// WithTree returns a context for work that takes the quotas of a token tree.
func WithTree(ctx context.Context, tree int64) context.Context {
	return context.WithValue(ctx, treeKey{}, tree)
}

// TreeOf returns the token tree of a context, [Operator] if it has none: the bridge's own work.
func TreeOf(ctx context.Context) int64 {
	tree, _ := ctx.Value(treeKey{}).(int64)
	return tree
}
