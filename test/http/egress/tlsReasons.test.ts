/** A failed handshake says why, and what helps: by code, and with a server that signs itself. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { tlsProblemOf, type TlsProblem } from "../../../src/net/egress/TlsFailure.ts"
import { tlsFailure } from "../../../src/net/egress/TransportFailure.ts"
import * as HttpsServer from "../../support/HttpsServer.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { makeCertificate } from "../../support/tunnels/Certificate.ts"

describe("a TLS failure", () => {
  const cases: ReadonlyArray<readonly [string | undefined, TlsProblem, string]> = [
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "self_signed", "NODE_EXTRA_CA_CERTS"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "unknown_issuer", "NODE_EXTRA_CA_CERTS"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unknown_issuer", "transport.ca"],
    ["CERT_HAS_EXPIRED", "expired", "clock"],
    ["CERT_NOT_YET_VALID", "not_yet_valid", "clock"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "other_host", "transport.serverName"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "client_certificate", "transport.certificate"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "not_tls", "http://"],
    ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "protocol", "TLS 1.2"],
    ["ECONNRESET", "closed", "during the handshake"],
    [undefined, "other", "handshake"]
  ]
  for (const [code, problem, advice] of cases) {
    it(`${code ?? "without a code"} is ${problem}`, () => {
      assert.strictEqual(tlsProblemOf(code), problem)
      const { kind, message } = tlsFailure(problem)
      assert.strictEqual(kind, "tls")
      assert.include(message, advice)
    })
  }

  it.scopedLive("reaches the client and the test of the connection", () =>
    Effect.gen(function* () {
      const server = yield* HttpsServer.start(makeCertificate())
      const plain = yield* Fake.start
      const gateway = yield* TestGateway.start()
      const body = { messages: [{ role: "user", content: "hi" }] }
      for (const [prefix, origin, words] of [
        ["signed", server.origin, "self-signed"],
        ["plain", plain.origin.replace("http:", "https:"), "does not speak TLS"]
      ] as const) {
        const { id } = yield* Effect.promise(() => gateway.connect(prefix, { ...plain, origin }, "chat"))
        const response = yield* Effect.promise(() =>
          gateway.post("/v1/chat/completions", { ...body, model: `${prefix}/m` })
        )
        assert.include(yield* Effect.promise(() => response.text()), words)
        const tested = yield* Effect.promise(() => gateway.manage("POST", `/api/providers/${id}/test`))
        assert.include(tested.error, words)
      }
    })
  )
})
