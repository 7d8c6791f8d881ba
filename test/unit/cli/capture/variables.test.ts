import { assert, it } from "@effect/vitest"
import { captureVariables } from "../../../../src/subjects/capture/commands/variables.ts"

const files = { alone: "/t/ca.crt", bundle: "/t/bundle.crt", keyStore: "/t/bundle.jks" }

it("captured commands find the proxy and trust the certificate, each kind by its own variables", () => {
  const variables = captureVariables({ port: 8080, ...files, java: "-Xmx1g" })
  for (const name of ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"]) {
    assert.strictEqual(variables[name], "http://127.0.0.1:8080")
  }
  assert.include(variables["NO_PROXY"] ?? "", "127.0.0.1")
  assert.strictEqual(variables["NODE_EXTRA_CA_CERTS"], files.alone)
  for (const name of ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"]) {
    assert.strictEqual(variables[name], files.bundle)
  }
  assert.match(variables["JAVA_TOOL_OPTIONS"] ?? "", /^-Xmx1g -Dhttp\.proxyHost=127\.0\.0\.1 .*-Dhttps\.proxyPort=8080/)
  assert.include(variables["JAVA_TOOL_OPTIONS"] ?? "", "-Djavax.net.ssl.trustStore=/t/bundle.jks ")
})
