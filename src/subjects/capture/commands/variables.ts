/** Variables by which programs of many kinds use the HTTP proxy and trust its certificate. Pure. */
import { keyStorePassword } from "./JavaKeyStore.ts"

export interface CaptureEnvironment {
  readonly port: number
  /** Certificate of the gateway's authority alone. */
  readonly alone: string
  /** Certificates of public authorities and ours, for tools that take one file for all. */
  readonly bundle: string
  /** The same for Java. */
  readonly keyStore: string
  /** `JAVA_TOOL_OPTIONS` as it is; null: not set. */
  readonly java: string | null
}

const never = "localhost,127.0.0.1,::1"

export const captureVariables = ({
  alone,
  bundle,
  java,
  keyStore,
  port
}: CaptureEnvironment): Readonly<Record<string, string>> => {
  const proxy = `http://127.0.0.1:${port}`
  const javaOptions = [
    `-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=${port}`,
    `-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=${port}`,
    "-Dhttp.nonProxyHosts=localhost|127.*|[::1]",
    `-Djavax.net.ssl.trustStore=${keyStore} -Djavax.net.ssl.trustStoreType=JKS`,
    `-Djavax.net.ssl.trustStorePassword=${keyStorePassword}`
  ].join(" ")
  return {
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    ALL_PROXY: proxy,
    all_proxy: proxy,
    NO_PROXY: never,
    no_proxy: never,
    // Node: https://nodejs.org/docs/latest-v20.x/api/cli.html; the second makes newer ones use the proxy variables.
    NODE_EXTRA_CA_CERTS: alone,
    NODE_USE_ENV_PROXY: "1",
    // OpenSSL, and with it Go on Linux and Python's ssl; then requests, httpx, pip; curl; git; Deno; AWS.
    SSL_CERT_FILE: bundle,
    REQUESTS_CA_BUNDLE: bundle,
    PIP_CERT: bundle,
    CURL_CA_BUNDLE: bundle,
    GIT_SSL_CAINFO: bundle,
    DENO_CERT: alone,
    AWS_CA_BUNDLE: bundle,
    JAVA_TOOL_OPTIONS: java === null || java === "" ? javaOptions : `${java} ${javaOptions}`
  }
}
