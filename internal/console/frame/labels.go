package frame

import (
	"bridged/internal/bridge"
	"bridged/internal/console/view"
)

// Labels returns the account's labels that the visitor may see; none if the account cannot have any.
// It requests them once.
func (req *Request) Labels() (view.Labels, error) {
	if req.labels == nil {
		found, err := req.API.Labels(req.Context())
		if err != nil && bridge.CodeOf(err) != bridge.CodeNoLabels {
			return nil, err
		}
		req.labels = new(view.Labels(found))
	}
	return *req.labels, nil
}
