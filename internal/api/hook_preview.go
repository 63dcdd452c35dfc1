package api

import (
	"encoding/json"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/hooks"
)

// previewHook renders a payload without sending anything.
func (s *server) previewHook(w http.ResponseWriter, r *http.Request) error {
	hook, err := s.pathHook(r)
	if err != nil {
		return err
	}
	var req struct {
		Payload json.RawMessage   `json:"payload"`
		Headers map[string]string `json:"headers"`
	}
	if _, err := s.bodies.decodeStrict(w, r, &req); err != nil {
		return err
	}
	if req.Payload == nil {
		return bridge.Invalid("payload is required: what the service posts, as JSON")
	}
	template, err := hooks.Parse(hook.Template)
	if err != nil {
		return err
	}
	payload, err := hooks.JSONPayload(req.Payload)
	if err != nil {
		return err
	}
	header := make(http.Header, len(req.Headers))
	for name, value := range req.Headers {
		header.Set(name, value)
	}
	if err := template.Needs(header); err != nil {
		return err
	}
	if err := s.templates.preview(callerOf(r.Context()).Family); err != nil {
		return err
	}
	text, err := s.templates.render(r.Context(), template, payload, header)
	if err != nil {
		return err
	}
	return s.answer(w, r, struct {
		Text string `json:"text"`
	}{text})
}
