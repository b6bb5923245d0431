package source

import (
	"io"
	"sync"

	ecr "github.com/awslabs/amazon-ecr-credential-helper/ecr-login"
	acr "github.com/chrismellard/docker-credential-acr-env/pkg/credhelper"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/google"
)

// keychain is where credentials come from: docker's configuration with its
// helpers, then what the clouds give the machine or the environment for their
// own registries (ECR, Google's, ACR). Each looks at the host first, and does
// nothing for those of others.
var keychain = sync.OnceValue(func() authn.Keychain {
	return authn.NewMultiKeychain(
		authn.DefaultKeychain,
		google.Keychain,
		authn.NewKeychainFromHelper(ecr.NewECRHelper(ecr.WithLogger(io.Discard))),
		authn.NewKeychainFromHelper(acr.NewACRCredentialsHelper()),
	)
})
