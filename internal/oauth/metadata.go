package oauth

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"bridged/internal/bridge"
)

// scopes returns the scopes that clients can be granted. "manage" is never granted.
func (s *Server) scopes() []bridge.Scope {
	if s.Send {
		return []bridge.Scope{bridge.ScopeRead, bridge.ScopeSend}
	}
	return []bridge.Scope{bridge.ScopeRead}
}

func (s *Server) scopeNames() (names []string) {
	for _, scope := range s.scopes() {
		names = append(names, string(scope))
	}
	return names
}

// MetadataURL returns the address of the document about the resource. It is under the base path, so
// that a proxy that passes on only this path also passes on the document.
func (s *Server) MetadataURL(r *http.Request) string {
	return s.address(r.Host) + resourceMetadata + s.Path
}

// describeResource says which server grants access to the resource (RFC 9728).
func (s *Server) describeResource(w http.ResponseWriter, r *http.Request) error {
	answer(w, http.StatusOK, &oauthex.ProtectedResourceMetadata{
		Resource: s.resource(r.Host), AuthorizationServers: []string{s.address(r.Host)}, ScopesSupported: s.scopeNames(),
		BearerMethodsSupported: []string{"header"}, ResourceName: "bridged",
	})
	return nil
}

// describeServer lists the endpoints and their features (RFC 8414).
func (s *Server) describeServer(w http.ResponseWriter, r *http.Request) error {
	at, public := s.address(r.Host), []string{"none"}
	answer(w, http.StatusOK, &oauthex.AuthServerMeta{
		Issuer: at, AuthorizationEndpoint: at + AuthorizePath, TokenEndpoint: at + tokenPath, RegistrationEndpoint: at + registerPath,
		RevocationEndpoint: at + revokePath, ScopesSupported: s.scopeNames(),
		ResponseTypesSupported: []string{"code"}, ResponseModesSupported: []string{"query"}, GrantTypesSupported: []string{codeGrant, refreshGrant},
		TokenEndpointAuthMethodsSupported: public, RevocationEndpointAuthMethodsSupported: public,
		CodeChallengeMethodsSupported: []string{"S256"}, ClientIDMetadataDocumentSupported: true, AuthorizationResponseIssParameterSupported: true,
	})
	return nil
}
