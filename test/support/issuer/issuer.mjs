// A real issuer (`oidc-provider`) on a loopback socket, with what tests say of it by `POST /control`. It is a process of its own, so that its clock can be another.
import { createServer } from "node:http"
import { exportJWK, generateKeyPair, importJWK, SignJWT, decodeJwt, decodeProtectedHeader } from "jose"

// It is told where no key or address is fit for the world.
console.warn = () => {}
console.info = () => {}
const { default: Provider } = await import("oidc-provider")

const realNow = Date.now
const told = {
  /** Claims of the account that signs in next. */
  account: { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true, groups: [] },
  clockOffsetMs: 0,
  /** Claims of ID tokens that are set otherwise; null: left out. */
  altered: {},
  /** ID tokens are signed by a key that is not published. */
  isForged: false,
  idTokenS: 3600
}
Date.now = () => realNow() + told.clockOffsetMs

let keys = []
const accounts = new Map()
let provider = null
let callback = null
let origin = ""
let rotations = 0

const newKey = async () => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true })
  return { ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: `key-${(rotations += 1)}` }
}

const altered = async (token) => {
  const [key] = keys
  const forged = told.isForged ? await newKey() : key
  const claims = { ...decodeJwt(token), ...told.altered }
  const payload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null))
  const header = { ...decodeProtectedHeader(token), kid: key.kid }
  return new SignJWT(payload).setProtectedHeader(header).sign(await importJWK(forged, "RS256"))
}

const make = async () => {
  keys = [await newKey()]
  provider = new Provider(origin, {
    clients: told.clients ?? [],
    jwks: { keys },
    cookies: { keys: ["a secret of the tests"] },
    scopes: ["openid", "profile", "email", "groups"],
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        // Its own page asks another host for a font.
        logoutSource: (ctx, form) => {
          ctx.body = `<!doctype html><title>Log out</title>${form}`
        }
      }
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { IdToken: () => told.idTokenS },
    findAccount: (_, id) => ({ accountId: id, claims: () => accounts.get(id) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope("openid profile email groups")
      await grant.save()
      return grant
    }
  })
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.oidc?.route !== "token" || typeof ctx.body?.id_token !== "string") return
    if (told.isForged || Object.keys(told.altered).length > 0) ctx.body.id_token = await altered(ctx.body.id_token)
  })
  callback = provider.callback()
}

const bodyOf = async (request) => {
  let text = ""
  for await (const chunk of request) text += chunk
  return JSON.parse(text)
}

const serve = async (request, response) => {
  if (request.method === "POST" && request.url === "/control") {
    const { rotate = false, ...more } = await bodyOf(request)
    Object.assign(told, more)
    if (rotate || more.clients !== undefined) await make()
    return response.end()
  }
  if (request.url?.startsWith("/interaction/")) {
    accounts.set(told.account.sub, told.account)
    const login = { accountId: told.account.sub }
    return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false })
  }
  return callback(request, response)
}

const server = createServer((request, response) => {
  serve(request, response).catch((error) => response.writeHead(500).end(String(error)))
})
server.listen(0, "127.0.0.1", async () => {
  origin = `http://127.0.0.1:${server.address().port}`
  await make()
  process.stdout.write(`${origin}\n`)
})
