/** Receivers of webhooks on real sockets, and the checks of what they were sent. */
import { assert } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { Webhook as Standard } from "standardwebhooks"
import { Webhook as Svix } from "svix"
import type { Answer, RecordedRequest } from "./FakeUpstream.ts"

export interface Envelope {
  readonly id: string
  readonly event: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

export const envelopeOf = ({ body }: RecordedRequest): Envelope => JSON.parse(body)

export const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end()
  }

/** Takes the request and never answers. */
export const hanging: Answer = () => {}

/** Ends the connection without an answer. */
export const resetting: Answer = (response) => {
  response.socket?.resetAndDestroy()
}

/** The head at once, then a body that does not end. */
export const dripping: Answer = (response) => {
  response.writeHead(200, { "content-length": "1000" })
  response.write("o")
}

const textOf = (value: string | ReadonlyArray<string> | undefined): string => String(value ?? "")

const standardNames = ["webhook-id", "webhook-timestamp", "webhook-signature"]

/** All three signatures are right: of the body, and those that the libraries of receivers verify. */
export const assertSigned = (request: RecordedRequest, secret: string): Envelope => {
  const { body, headers } = request
  const envelope = envelopeOf(request)
  const hmac = createHmac("sha256", secret).update(body).digest("hex")
  assert.strictEqual(headers["x-webhook-signature"], `sha256=${hmac}`)
  assert.strictEqual(headers["x-webhook-event"], envelope.event)
  assert.strictEqual(headers["x-webhook-timestamp"], envelope.timestamp)
  assert.strictEqual(new Date(envelope.timestamp).toISOString(), envelope.timestamp)
  assert.strictEqual(headers["user-agent"], "Gateway-Webhook/1.0")
  assert.strictEqual(headers["content-type"], "application/json")
  const standard = Object.fromEntries(standardNames.map((name) => [name, textOf(headers[name])]))
  assert.deepStrictEqual(new Standard(secret).verify(body, standard), envelope)
  assert.deepStrictEqual(new Svix(secret).verify(body, standard), envelope)
  assert.throws(() => new Standard(secret).verify(`${body} `, standard))
  return envelope
}
