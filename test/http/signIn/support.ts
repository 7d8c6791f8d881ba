/** A gateway and a real issuer that signs people in. */
import * as Effect from "effect/Effect"
import { startIssuer, type TestIssuer } from "../../support/issuer/TestIssuer.ts"
import * as Gateway from "../../support/TestGateway.ts"

export type Members = Readonly<Record<string, unknown>>

const clientSecret = "a-secret-of-the-client-of-the-tests"

/** Registers the gateway at the issuer, and the issuer at the gateway; its id. */
export const register = async (
  gateway: Gateway.TestGateway,
  issuer: TestIssuer,
  more: Members = {}
): Promise<string> => {
  const { issuer: made } = await gateway.manage("POST", "/api/issuers", {
    name: `Directory ${issuer.url}`,
    issuer: issuer.url,
    clientId: "gateway",
    clientSecret,
    scopes: ["openid", "profile", "email", "groups"],
    ...more
  })
  const client = { client_id: "gateway", client_secret: clientSecret, redirect_uris: [made.redirectUri] }
  await issuer.say({ clients: [client] })
  return made.id
}

export const setUp = Effect.gen(function* () {
  const gateway = yield* Gateway.start()
  const issuer = yield* startIssuer
  return { gateway, issuer }
})

export const account = (sub: string, more: Members = {}) => ({
  account: { sub, name: sub, email: `${sub}@example.com`, email_verified: true, groups: [], ...more }
})
