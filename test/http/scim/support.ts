/** A gateway with a directory that pushes: a key of scope `scim`, and what directories send. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { adminKey, start, type TestGateway } from "../../support/TestGateway.ts"

type Json = ReturnType<typeof JSON.parse>

export interface Answer {
  readonly status: number
  readonly body: Json
  readonly headers: Headers
}

/** Id that nobody has. */
export const absent = "none"

export const schemas = {
  user: "urn:ietf:params:scim:schemas:core:2.0:User",
  group: "urn:ietf:params:scim:schemas:core:2.0:Group",
  patch: "urn:ietf:params:scim:api:messages:2.0:PatchOp",
  error: "urn:ietf:params:scim:api:messages:2.0:Error"
} as const

export class Pushing {
  readonly gateway: TestGateway
  readonly key: { readonly id: string; readonly secret: string }

  constructor(gateway: TestGateway, key: { readonly id: string; readonly secret: string }) {
    this.gateway = gateway
    this.key = key
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Answer> {
    const response = await fetch(`${this.gateway.url}/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.key.secret}`,
        ...(body === undefined ? {} : { "content-type": "application/scim+json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? null : JSON.parse(text), headers: response.headers }
  }

  /** The body of an answer of this status. */
  async must(status: number, ...request: Parameters<Pushing["send"]>): Promise<Json> {
    const answer = await this.send(...request)
    assert.strictEqual(answer.status, status, `${request[0]} ${request[1]}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** Refuses in the form of SCIM. */
  async refused(status: number, scimType: string | undefined, ...request: Parameters<Pushing["send"]>): Promise<void> {
    const { body, headers, status: is } = await this.send(...request)
    assert.deepStrictEqual(
      [is, body?.schemas, body?.status, body?.scimType],
      [status, [schemas.error], String(status), scimType],
      `${request[0]} ${request[1]}: ${JSON.stringify(body)}`
    )
    assert.match(headers.get("content-type") ?? "", /^application\/scim\+json/)
  }

  user(userName: string, more: object = {}): Promise<Json> {
    return this.must(201, "POST", "/Users", {
      schemas: [schemas.user],
      userName,
      emails: [{ value: userName, type: "work", primary: true }],
      active: true,
      ...more
    })
  }

  group(displayName: string, members: ReadonlyArray<string> = [], more: object = {}): Promise<Json> {
    return this.must(201, "POST", "/Groups", {
      schemas: [schemas.group],
      displayName,
      members: members.map((value) => ({ value })),
      ...more
    })
  }

  /** The resource after a PATCH; groups are read again, because the answer does not have them. */
  async patch(path: string, ...operations: ReadonlyArray<object>): Promise<Json> {
    const isGroup = path.startsWith("/Groups/")
    const body = { schemas: [schemas.patch], Operations: operations }
    const patched = await this.must(isGroup ? 204 : 200, "PATCH", path, body)
    return isGroup ? this.must(200, "GET", path) : patched
  }

  async membersOf(groupId: string): Promise<ReadonlyArray<string>> {
    const { members } = await this.must(200, "GET", `/Groups/${groupId}`)
    return members.map(({ value }: { value: string }) => value)
  }
}

export const keyOf = async (gateway: TestGateway, body: object) => {
  const { key, secret } = await gateway.manage("POST", "/api/keys", body)
  return { id: String(key.id), secret: String(secret) }
}

export const setUp = Effect.gen(function* () {
  const gateway = yield* start()
  const key = yield* Effect.promise(() => keyOf(gateway, { name: "Directory", scopes: ["scim"] }))
  return new Pushing(gateway, key)
})

export const asAdmin = ({ gateway }: Pushing): Pushing => new Pushing(gateway, { id: "", secret: adminKey })
