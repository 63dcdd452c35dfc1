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
		canHave := bridge.CodeOf(err) != bridge.CodeNoLabels
		if err != nil && canHave {
			return view.Labels{}, err
		}
		req.labels = &view.Labels{All: found, Changes: canHave && req.ChangesLabels()}
	}
	return *req.labels, nil
}

// ChangesLabels reports whether the visitor may create, change and delete labels, if the account can have any.
func (req *Request) ChangesLabels() bool {
	return req.Sends() && req.Token.Chats == nil && req.Token.Allows(bridge.ScopeRead)
}
