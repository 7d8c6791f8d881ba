import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { rootCertificates } from "node:tls"
import { javaKeyStore, keyStorePassword } from "../../../../src/subjects/capture/commands/JavaKeyStore.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { hasKeytool } from "../../../support/TrustFolders.ts"

describe("the key store for Java", () => {
  it.scopedLive.skipIf(!hasKeytool)("is read by Java itself, whole, each certificate as trusted", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "store.jks")
      const certificates = rootCertificates.slice(0, 5)
      writeFileSync(file, javaKeyStore(certificates, 1_700_000_000_000))
      const args = ["-list", "-keystore", file, "-storepass", keyStorePassword]
      const listed = execFileSync("keytool", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      assert.strictEqual(listed.match(/trustedCertEntry/g)?.length, certificates.length, listed)
      for (const pem of certificates) assert.include(listed, new X509Certificate(pem).fingerprint256)
    })
  )
})
