/** An authority of the tests, and the certificates of the proxy and of the target. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { addresses, proxyNames, targetName } from "./Network.ts"

export interface Pair {
  readonly cert: string
  readonly key: string
}

export interface Certificates {
  readonly authority: string
  readonly proxy: Pair
  readonly target: Pair
}

export const makeCertificates = (folder: string): Certificates => {
  const openssl = (...args: ReadonlyArray<string>): void => {
    execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] })
  }
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  const ca = { cert: join(folder, "ca.pem"), key: join(folder, "ca.key") }
  openssl("req", "-x509", ...curve, "-keyout", ca.key, "-out", ca.cert, "-days", "2", "-subj", "/CN=Network tests")

  const issue = (name: string, subjects: ReadonlyArray<string>): Pair => {
    const pair = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
    const request = join(folder, `${name}.csr`)
    const extensions = join(folder, `${name}.ext`)
    writeFileSync(extensions, `subjectAltName=${subjects.join(",")}\n`)
    openssl("req", ...curve, "-keyout", pair.key, "-out", request, "-subj", `/CN=${name}`)
    const signed = ["-CA", ca.cert, "-CAkey", ca.key, "-CAcreateserial", "-days", "2", "-extfile", extensions]
    openssl("x509", "-req", "-in", request, "-out", pair.cert, ...signed)
    return pair
  }
  const literals = ({ v4, v6 }: { readonly v4: string; readonly v6: string }) => [`IP:${v4}`, `IP:${v6}`]
  return {
    authority: ca.cert,
    proxy: issue("proxy", [...Object.values(proxyNames).map((name) => `DNS:${name}`), ...literals(addresses.proxy)]),
    target: issue("target", [`DNS:${targetName}`, ...literals(addresses.target)])
  }
}
