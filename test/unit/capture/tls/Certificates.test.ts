import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import { execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as CertificateAuthority from "../../../../src/observe/capture/tls/CertificateAuthority.ts"
import { makeLeafCertificates } from "../../../../src/observe/capture/tls/LeafCertificates.ts"

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5)
const dayMs = 86_400_000

const made = Effect.gen(function* () {
  yield* TestClock.setTime(nowMs)
  const authority = yield* CertificateAuthority.make("Gateway test CA")
  const key = yield* CertificateAuthority.makeKey
  return { authority, key }
})

/** What `openssl verify` says with all its rules on; throws when it refuses. */
const verify = (authority: string, leaf: string, ...more: ReadonlyArray<string>): string => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-certificates-"))
  try {
    writeFileSync(join(folder, "ca.pem"), authority)
    writeFileSync(join(folder, "leaf.pem"), leaf)
    return execFileSync(
      "openssl",
      [
        "verify",
        "-x509_strict",
        "-attime",
        String(nowMs / 1000),
        "-purpose",
        "sslserver",
        ...more,
        "-CAfile",
        join(folder, "ca.pem"),
        join(folder, "leaf.pem")
      ],
      { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe("CertificateAuthority", () => {
  it.effect("is a CA of RSA-2048 and SHA-256 for ten years", () =>
    Effect.gen(function* () {
      const { authority } = yield* made
      const read = new X509Certificate(authority.certificate)
      assert.isTrue(read.ca)
      assert.isTrue(read.verify(read.publicKey))
      assert.strictEqual(read.publicKey.asymmetricKeyDetails?.modulusLength, 2048)
      assert.strictEqual(authority.notBeforeMs, nowMs - 3_600_000)
      assert.strictEqual(new Date(authority.notAfterMs).getUTCFullYear(), 2036)
      assert.match(authority.subject, /^CN=Gateway test CA [0-9a-f]{8}, O=Gateway$/u)
      assert.match(authority.sha256, /^[0-9a-f]{64}$/u)
      assert.match(authority.serial, /^[4-7][0-9a-f]{31}$/u)
    })
  )

  it.effect("issues certificates that the strictest check takes, for one year and the host alone", () =>
    Effect.gen(function* () {
      const { authority, key } = yield* made
      for (const [name, check] of [
        ["api.example.com", "-verify_hostname"],
        [`${"a".repeat(60)}.${"b".repeat(60)}.example.com`, "-verify_hostname"],
        ["192.0.2.7", "-verify_ip"],
        ["2001:db8::7", "-verify_ip"]
      ] as const) {
        const { certificate, expiresAtMs } = yield* Effect.promise(() => authority.issue(name, key, nowMs))
        assert.include(verify(authority.certificate, certificate, check, name), "OK")
        assert.throws(() => verify(authority.certificate, certificate, "-verify_hostname", "other.example.com"))
        const read = new X509Certificate(certificate)
        assert.strictEqual(Date.parse(read.validTo), expiresAtMs)
        assert.strictEqual(Date.parse(read.validTo) - Date.parse(read.validFrom), 365 * dayMs)
        assert.isFalse(read.ca)
        assert.strictEqual(read.publicKey.asymmetricKeyDetails?.modulusLength, 2048)
      }
    })
  )

  it.effect("goes on as the same authority from what was kept, and shows its key nowhere else", () =>
    Effect.gen(function* () {
      const { authority, key } = yield* made
      const kept = authority.exported()
      assert.notInclude(JSON.stringify([kept, authority]), "PRIVATE KEY")
      const restored = yield* CertificateAuthority.restore(kept)
      assert.strictEqual(restored.sha256, authority.sha256)
      const { certificate } = yield* Effect.promise(() => restored.issue("api.example.com", key, nowMs))
      assert.include(verify(authority.certificate, certificate, "-verify_hostname", "api.example.com"), "OK")
    })
  )

  it.effect("refuses what is no authority, and a key that is another's", () =>
    Effect.gen(function* () {
      const { authority, key } = yield* made
      const other = yield* CertificateAuthority.make("Other")
      const leaf = yield* Effect.promise(() => authority.issue("api.example.com", key, nowMs))
      const leafKey = Redacted.make(key.export({ type: "pkcs8", format: "pem" }).toString())
      for (const kept of [
        { certificate: "nonsense", privateKey: authority.exported().privateKey },
        { certificate: authority.certificate, privateKey: Redacted.make("nonsense") },
        { certificate: authority.certificate, privateKey: other.exported().privateKey },
        { certificate: leaf.certificate, privateKey: leafKey }
      ]) {
        const error = yield* Effect.flip(CertificateAuthority.restore(kept))
        assert.strictEqual(error._tag, "NotAnAuthority")
      }
    })
  )
})

describe("LeafCertificates", () => {
  it.effect("issues once for handshakes at once, keeps it, renews it before its end, and forgets the oldest", () =>
    Effect.gen(function* () {
      const { authority, key } = yield* made
      const issued: Array<string> = []
      const leaves = makeLeafCertificates(
        {
          issue: (name, leafKey, atMs) => {
            issued.push(name)
            return authority.issue(name, leafKey, atMs)
          }
        },
        key,
        2
      )
      const ask = (name: string, atMs: number) => Effect.promise(() => leaves.contextFor(name, atMs))
      const [first, ...others] = yield* Effect.all(
        Array.from({ length: 20 }, () => ask("a.example", nowMs)),
        { concurrency: "unbounded" }
      )
      assert.isTrue(others.every((context) => context === first))
      assert.deepStrictEqual(issued, ["a.example"])
      assert.strictEqual(leaves.cached("a.example", nowMs + 363 * dayMs), first)
      assert.isNull(leaves.cached("a.example", nowMs + 364.5 * dayMs))
      yield* ask("a.example", nowMs + 364.5 * dayMs)
      yield* ask("b.example", nowMs)
      yield* ask("c.example", nowMs)
      assert.deepStrictEqual(issued, ["a.example", "a.example", "b.example", "c.example"])
      assert.isNull(leaves.cached("a.example", nowMs))
    })
  )

  it.effect("asks again after a failure", () =>
    Effect.gen(function* () {
      const { authority, key } = yield* made
      let failures = 1
      const leaves = makeLeafCertificates(
        {
          issue: (name, leafKey, atMs) =>
            failures-- > 0 ? Promise.reject(new Error("no")) : authority.issue(name, leafKey, atMs)
        },
        key
      )
      const attempt = Effect.tryPromise(() => leaves.contextFor("a.example", nowMs))
      assert.isTrue((yield* Effect.either(attempt))._tag === "Left")
      assert.isTrue((yield* Effect.either(attempt))._tag === "Right")
    })
  )
})
