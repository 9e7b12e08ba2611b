package leadscoring

import (
	"context"
	"net/http"
)

// WithToken sends a personal access token (lsp_…) or a JSON Web Token with each request.
func WithToken(token string) ClientOption {
	return WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	})
}

// WithServiceAccount sends the client id and secret of a service account with each request.
func WithServiceAccount(clientID, clientSecret string) ClientOption {
	return WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(clientID, clientSecret)
		return nil
	})
}
