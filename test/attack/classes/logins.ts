/**
 * Logins at the command line that are not the person's own: codes are guessed, replayed or confirmed by who may not, the browser is led elsewhere, and the
 * credential is used where it does not count.
 */
import { createHash, randomBytes } from "node:crypto"
import { routes } from "../../../src/contract/Routes.ts"
import { challengeOf } from "../../../src/subjects/logins/rules.ts"
import { adminKey, type Arena } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs, type Verdict } from "../Attempt.ts"
import { once } from "../Once.ts"
import { type Directory, directoryOf, freshAddress, signedIn, told, userOf, type Visitor } from "../Visitor.ts"

const placeOf = once((arena, _group: string) => directoryOf(arena))

/** A command line that waits. */
interface Waiting {
  readonly secret: string
  readonly code: string
  readonly verifier: string
  readonly from: string
}

const begin = async ({ gateway }: Directory, way: "browser" | "device"): Promise<Waiting> => {
  const verifier = randomBytes(32).toString("base64url")
  const from = freshAddress()
  const back = { port: 49_152, challenge: challengeOf(verifier), state: randomBytes(32).toString("base64url") }
  const { body, status, text } = await told(
    gateway,
    "POST",
    "/api/logins",
    {},
    { way, machine: "laptop", ...(way === "browser" ? { back } : {}) },
    from
  )
  if (status !== 200) throw new Error(`no login began: ${status} ${text}`)
  return { secret: body.secret, code: body.code, verifier, from }
}

type Proof = { readonly code: unknown; readonly verifier: unknown } | null

const ask = async ({ gateway }: Directory, { from, secret }: Pick<Waiting, "from" | "secret">, proof: Proof = null) =>
  told(gateway, "POST", "/api/logins/token", {}, { secret, ...(proof === null ? {} : { proof }) }, from)

/** Null where no credential was given. */
const isKept = ({ body, status, text }: Awaited<ReturnType<typeof ask>>): Verdict => {
  if (status === 429) return "it was only slowed down"
  return text.includes("gws_") || body?.status === "logged_in" ? "a credential was given" : null
}

/** A person of a fresh name, so that nobody's tries are used up. */
const personOf = (directory: Directory, arena: Arena, more: object = {}): Promise<Visitor> =>
  signedIn(directory, arena.fresh("person"), more)

const allow = async (visitor: Visitor, code: string) => {
  const seen = await visitor.page("POST", "/api/logins/look", { code })
  if (seen.status !== 200) throw new Error(`not shown: ${seen.status} ${seen.text}`)
  return visitor.page("POST", "/api/logins/answer", { code, allow: true })
}

const grantOf = (answer: Awaited<ReturnType<typeof allow>>): string =>
  new URL(answer.body.redirect).searchParams.get("code") ?? ""

/** The credential of a login that a person has allowed. */
const tokenOf = async (directory: Directory, visitor: Visitor): Promise<string> => {
  const waiting = await begin(directory, "device")
  await allow(visitor, waiting.code)
  return String((await ask(directory, waiting)).body.login.token)
}

type Run = (directory: Directory, arena: Arena) => Promise<Verdict>

const attemptsIn = (group: string, all: Readonly<Record<string, Run>>): ReadonlyArray<Attempt> =>
  Object.entries(all).map(([name, run]) => ({
    name,
    run: async (arena) => run(await placeOf(arena, group), arena)
  }))

type Headers = Readonly<Record<string, string>>

/** Everybody who is no person on a page of the gateway's own. */
const strangers: Readonly<Record<string, (directory: Directory, arena: Arena) => Promise<Headers>>> = {
  nobody: async () => ({}),
  "the admin key": async () => ({ authorization: `Bearer ${adminKey}` }),
  "a key that manages": async ({ gateway }, { fresh }) => {
    const { secret } = await gateway.must("POST", "/api/keys", { name: fresh("key"), scopes: ["manage"] })
    return { authorization: `Bearer ${secret}` }
  },
  "a key of a person": async (directory, arena) => {
    const name = arena.fresh("keyed")
    await signedIn(directory, name)
    const { id } = await userOf(directory.gateway, `${name}@example.com`)
    const { secret } = await directory.gateway.must("POST", "/api/keys", { name, userId: id })
    return { authorization: `Bearer ${secret}` }
  },
  "a login at the command line": async (directory, arena) => ({
    authorization: `Bearer ${await tokenOf(directory, await personOf(directory, arena))}`
  }),
  "an admin's login at the command line": async (directory, arena) => {
    const name = arena.fresh("admin")
    const visitor = await signedIn(directory, name)
    const { id } = await userOf(directory.gateway, `${name}@example.com`)
    await directory.gateway.must("PUT", `/api/users/${id}`, { role: "admin" })
    return { authorization: `Bearer ${await tokenOf(directory, visitor)}` }
  },
  "a person's session without the token": async (directory, arena) => (await personOf(directory, arena)).cookieHeader(),
  "a person's session with a wrong token": async (directory, arena) => ({
    ...(await personOf(directory, arena)).cookieHeader(),
    "x-csrf-token": "A".repeat(43)
  }),
  "a person's session with another's token": async (directory, arena) => ({
    ...(await personOf(directory, arena)).cookieHeader(),
    ...(await (await personOf(directory, arena)).csrf())
  }),
  "a person's session from another site": async (directory, arena) => {
    const visitor = await personOf(directory, arena)
    return { ...visitor.cookieHeader(), ...(await visitor.csrf()), "sec-fetch-site": "cross-site" }
  },
  "a person's session from another origin": async (directory, arena) => {
    const visitor = await personOf(directory, arena)
    return { ...visitor.cookieHeader(), ...(await visitor.csrf()), origin: "https://evil.example" }
  },
  "a person's session from another port": async (directory, arena) => {
    const visitor = await personOf(directory, arena)
    return { ...visitor.cookieHeader(), ...(await visitor.csrf()), origin: "http://127.0.0.1:1" }
  },
  "a person's cookie in the place of a key": async (directory, arena) => ({
    authorization: `Bearer ${(await personOf(directory, arena)).session()}`
  })
}

/** Answers of those who may not: neither shown, nor allowed after the person was shown. */
const confirmedByOthers = pairs(Object.keys(strangers), ["look", "answer", "answer after a look"]).map(
  ([name, what]): Attempt => ({
    name: `${what} by ${name}`,
    run: async (arena) => {
      const directory = await placeOf(arena, "strangers")
      const { gateway } = directory
      const waiting = await begin(directory, "device")
      if (what === "answer after a look") {
        const victim = await personOf(directory, arena)
        await victim.page("POST", "/api/logins/look", { code: waiting.code })
      }
      const headers = (await strangers[name]?.(directory, arena)) ?? {}
      const path = what === "look" ? "/api/logins/look" : "/api/logins/answer"
      const body = { code: waiting.code, ...(what === "look" ? {} : { allow: true }) }
      const { status, text } = await told(gateway, "POST", path, headers, body)
      if (status !== 401 && status !== 403) return `it was answered with ${status}: ${text}`
      return isKept(await ask(directory, waiting))
    }
  })
)

/** Bodies as pages send them without being allowed to. */
const simpleBodies = pairs(
  ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""],
  ["look", "answer"]
).map(([type, what]): Attempt => ({
  name: `${what} with a body of the type '${type}' from another site`,
  run: async (arena) => {
    const directory = await placeOf(arena, "strangers")
    const waiting = await begin(directory, "device")
    const visitor = await personOf(directory, arena)
    const { status, text } = await told(
      directory.gateway,
      "POST",
      `/api/logins/${what}`,
      { ...visitor.cookieHeader(), "content-type": type, origin: "https://evil.example" },
      JSON.stringify({ code: waiting.code, allow: true })
    )
    if (status < 400) return `it was answered with ${status}: ${text}`
    return isKept(await ask(directory, waiting))
  }
}))

/** Ways to have a login allowed that the person has not seen. */
const unseen: Readonly<Record<string, Run>> = {
  "an answer without a look": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    await (await personOf(directory, arena)).page("POST", "/api/logins/answer", { code: waiting.code, allow: true })
    return isKept(await ask(directory, waiting))
  },
  "an answer after the look of another person": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const [ada, eve] = [await personOf(directory, arena), await personOf(directory, arena)]
    await ada.page("POST", "/api/logins/look", { code: waiting.code })
    await eve.page("POST", "/api/logins/answer", { code: waiting.code, allow: true })
    return isKept(await ask(directory, waiting))
  },
  "an answer after another has looked meanwhile": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const [ada, eve] = [await personOf(directory, arena), await personOf(directory, arena)]
    await ada.page("POST", "/api/logins/look", { code: waiting.code })
    await eve.page("POST", "/api/logins/look", { code: waiting.code })
    await ada.page("POST", "/api/logins/answer", { code: waiting.code, allow: true })
    return isKept(await ask(directory, waiting))
  },
  "an answer of a session that has ended since": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const ada = await personOf(directory, arena)
    const headers = { ...ada.cookieHeader(), ...(await ada.csrf()) }
    await ada.page("POST", "/api/logins/look", { code: waiting.code })
    await ada.page("POST", "/api/sign-in/logout", {})
    const body = { code: waiting.code, allow: true }
    await told(directory.gateway, "POST", "/api/logins/answer", headers, body)
    return isKept(await ask(directory, waiting))
  },
  "a second answer after a refusal": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const ada = await personOf(directory, arena)
    await ada.page("POST", "/api/logins/look", { code: waiting.code })
    await ada.page("POST", "/api/logins/answer", { code: waiting.code, allow: false })
    await ada.page("POST", "/api/logins/answer", { code: waiting.code, allow: true })
    return isKept(await ask(directory, waiting))
  },
  "a look and an answer in the address": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const ada = await personOf(directory, arena)
    for (const path of ["/api/logins/look", "/api/logins/answer"]) {
      await ada.page("GET", `${path}?code=${waiting.code}&allow=true`)
      await ada.page("POST", `${path}?code=${waiting.code}&allow=true`, {})
    }
    return isKept(await ask(directory, waiting))
  },
  "a page that is opened with the code": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const ada = await personOf(directory, arena)
    for (const rest of [`?code=${waiting.code}`, `?request=${waiting.code}&allow=true`, `/${waiting.code}`]) {
      await ada.get(`${ada.url}/dashboard/login${rest}`)
    }
    return isKept(await ask(directory, waiting))
  },
  "a person who is suspended after the answer": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const name = arena.fresh("goes")
    const ada = await signedIn(directory, name)
    await allow(ada, waiting.code)
    const { id } = await userOf(directory.gateway, `${name}@example.com`)
    await directory.gateway.must("PUT", `/api/users/${id}`, { state: "suspended" })
    return isKept(await ask(directory, waiting))
  },
  "a person who is removed after the answer": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const name = arena.fresh("goes")
    const ada = await signedIn(directory, name)
    await allow(ada, waiting.code)
    const { id } = await userOf(directory.gateway, `${name}@example.com`)
    await directory.gateway.must("DELETE", `/api/users/${id}`)
    return isKept(await ask(directory, waiting))
  }
}

/** What is presented for a login that was allowed, and is not what belongs to it. */
const proofs: Readonly<
  Record<string, (own: Waiting, grant: string, other: Waiting, otherGrant: string) => readonly [Waiting, Proof]>
> = {
  "no proof": (own) => [own, null],
  "the code of another login": (own, _, _other, otherGrant) => [own, { code: otherGrant, verifier: own.verifier }],
  "the verifier of another login": (own, grant, other) => [own, { code: grant, verifier: other.verifier }],
  "the secret of another login": (own, grant, other) => [other, { code: grant, verifier: own.verifier }],
  "all but the secret": (own, grant) => [
    { ...own, secret: "A".repeat(43) },
    { code: grant, verifier: own.verifier }
  ],
  "the code as the secret": (own, grant) => [
    { ...own, secret: grant },
    { code: grant, verifier: own.verifier }
  ],
  "the page's code as the secret": (own, grant) => [
    { ...own, secret: own.code },
    { code: grant, verifier: own.verifier }
  ],
  "the page's code as the code": (own) => [own, { code: own.code, verifier: own.verifier }],
  "the challenge as the verifier": (own, grant) => [own, { code: grant, verifier: challengeOf(own.verifier) }],
  "a verifier cut by a letter": (own, grant) => [own, { code: grant, verifier: own.verifier.slice(1) }],
  "a longer verifier": (own, grant) => [own, { code: grant, verifier: `${own.verifier}A` }],
  "an empty verifier": (own, grant) => [own, { code: grant, verifier: "" }],
  "no verifier": (own, grant) => [own, { code: grant, verifier: undefined }],
  "a list of verifiers": (own, grant) => [own, { code: grant, verifier: [own.verifier] }],
  "the hash of the code": (own, grant) => [
    own,
    { code: createHash("sha256").update(grant).digest("hex"), verifier: own.verifier }
  ],
  "a list of codes": (own, grant) => [own, { code: [grant], verifier: own.verifier }],
  "the hash of the secret": (own, grant) => [
    { ...own, secret: createHash("sha256").update(own.secret).digest("hex") },
    { code: grant, verifier: own.verifier }
  ]
}

const presented = Object.entries(proofs).map(([name, of], index): Attempt => ({
  name: `a login by the browser with ${name}`,
  run: async (arena) => {
    const directory = await placeOf(arena, `proofs ${index % 2}`)
    const [own, other] = [await begin(directory, "browser"), await begin(directory, "browser")]
    const [ada, eve] = [await personOf(directory, arena), await personOf(directory, arena)]
    const [grant, otherGrant] = [grantOf(await allow(ada, own.code)), grantOf(await allow(eve, other.code))]
    const [waiting, proof] = of(own, grant, other, otherGrant)
    return isKept(await ask(directory, waiting, proof))
  }
}))

const replays: Readonly<Record<string, Run>> = {
  "a device's secret that was used": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    await allow(await personOf(directory, arena), waiting.code)
    if ((await ask(directory, waiting)).body.status !== "logged_in") return "the login itself failed"
    return isKept(await ask(directory, waiting))
  },
  "a browser's code that was used": async (directory, arena) => {
    const waiting = await begin(directory, "browser")
    const proof = {
      code: grantOf(await allow(await personOf(directory, arena), waiting.code)),
      verifier: waiting.verifier
    }
    if ((await ask(directory, waiting, proof)).body.status !== "logged_in") return "the login itself failed"
    return isKept(await ask(directory, waiting, proof))
  },
  "a browser's code after a wrong one": async (directory, arena) => {
    const waiting = await begin(directory, "browser")
    const code = grantOf(await allow(await personOf(directory, arena), waiting.code))
    await ask(directory, waiting, { code: "A".repeat(43), verifier: waiting.verifier })
    return isKept(await ask(directory, waiting, { code, verifier: waiting.verifier }))
  },
  "ten questions at once": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    await allow(await personOf(directory, arena), waiting.code)
    const all = await Promise.all(
      Array.from({ length: 10 }, () => ask(directory, { ...waiting, from: freshAddress() }))
    )
    const given = all.filter(({ body }) => body?.status === "logged_in").length
    return given === 1 ? null : `it was given ${given} times`
  },
  "ten codes of a browser at once": async (directory, arena) => {
    const waiting = await begin(directory, "browser")
    const proof = {
      code: grantOf(await allow(await personOf(directory, arena), waiting.code)),
      verifier: waiting.verifier
    }
    const all = await Promise.all(
      Array.from({ length: 10 }, () => ask(directory, { ...waiting, from: freshAddress() }, proof))
    )
    const given = all.filter(({ body }) => body?.status === "logged_in").length
    return given === 1 ? null : `it was given ${given} times`
  },
  "two persons who allow it at once": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const [ada, eve] = [await personOf(directory, arena), await personOf(directory, arena)]
    await ada.page("POST", "/api/logins/look", { code: waiting.code })
    const both = await Promise.all(
      [ada, eve].map((who) => who.page("POST", "/api/logins/answer", { code: waiting.code, allow: true }))
    )
    return both.filter(({ status }) => status === 200).length <= 1 ? null : "both were taken"
  }
}

/** Codes that a person guesses while logins of others wait. */
const guesses: Readonly<Record<string, Run>> = {
  "a hundred codes of one person": async (directory, arena) => {
    const eve = await personOf(directory, arena)
    const statuses: Array<number> = []
    for (let n = 0; n < 100; n += 1) {
      const letters = "BCDFGHJKLMNPQRSTVWXZ"
      const code = Array.from(randomBytes(8), (byte) => letters[byte % letters.length]).join("")
      statuses.push((await eve.page("POST", "/api/logins/look", { code })).status)
    }
    const taken = statuses.filter((status) => status !== 429).length
    return taken <= 12 ? null : `${taken} of a hundred were looked for`
  },
  "guesses between logins of one's own": async (directory, arena) => {
    const eve = await personOf(directory, arena)
    let guessed = 0
    for (let round = 0; round < 12; round += 1) {
      const waiting = await begin(directory, "device")
      const { status } = await eve.page("POST", "/api/logins/look", { code: waiting.code })
      if (status === 200) await eve.page("POST", "/api/logins/answer", { code: waiting.code, allow: true })
      for (let n = 0; n < 4; n += 1) {
        if ((await eve.page("POST", "/api/logins/look", { code: "BCDF-GHJK" })).status === 404) guessed += 1
      }
    }
    return guessed <= 12 ? null : `${guessed} were looked for`
  },
  "guesses by the answer": async (directory, arena) => {
    const eve = await personOf(directory, arena)
    let guessed = 0
    for (let n = 0; n < 60; n += 1) {
      const { status } = await eve.page("POST", "/api/logins/answer", { code: "BCDF-GHJK", allow: true })
      if (status === 404) guessed += 1
    }
    return guessed <= 12 ? null : `${guessed} were looked for`
  },
  "a hundred secrets of one address": async (directory) => {
    const from = freshAddress()
    let taken = 0
    for (let n = 0; n < 100; n += 1) {
      const { status } = await ask(directory, { secret: randomBytes(32).toString("base64url"), from })
      if (status !== 429) taken += 1
    }
    return taken <= 12 ? null : `${taken} of a hundred were looked for`
  },
  "a code that waits and one that does not are answered alike": async (directory, arena) => {
    const waiting = await begin(directory, "device")
    const eve = await personOf(directory, arena)
    const body = (code: string) => ({ code, allow: true })
    const there = await eve.page("POST", "/api/logins/answer", body(waiting.code))
    const not = await eve.page("POST", "/api/logins/answer", body("BCDF-GHJK"))
    return there.status === not.status && there.body.error.message === not.body.error.message ? null : there.text
  },
  "more logins than an address may wait with": async (directory) => {
    const from = freshAddress()
    const body = { way: "device", machine: "laptop" }
    let taken = 0
    for (let n = 0; n < 130; n += 1) {
      if ((await told(directory.gateway, "POST", "/api/logins", {}, body, from)).status === 200) taken += 1
    }
    return taken <= 100 ? null : `${taken} wait`
  }
}

const back = { port: 49_152, challenge: challengeOf("a"), state: "A".repeat(43) }

/** Places other than the person's own machine that a browser would go back to. */
const leadingAway: Readonly<Record<string, object>> = {
  "a redirect": { redirect: "https://evil.example/" },
  "a redirect_uri": { redirect_uri: "https://evil.example/" },
  "a host": { back: { ...back, host: "evil.example" } },
  "a port with a host": { back: { ...back, port: "49152@evil.example" } },
  "a port as text": { back: { ...back, port: "49152" } },
  "a port of the system": { back: { ...back, port: 22 } },
  "no port": { back: { ...back, port: 0 } },
  "a port beyond all": { back: { ...back, port: 65_536 } },
  "a negative port": { back: { ...back, port: -1 } },
  "half a port": { back: { ...back, port: 1024.5 } },
  "a state with another host": { back: { ...back, state: "A".repeat(22) + "&code=x#//evil.example" } },
  "a short state": { back: { ...back, state: "A" } },
  "a plain challenge": { back: { ...back, challenge: "plain", method: "plain" } },
  "an empty challenge": { back: { ...back, challenge: "" } },
  "no challenge": { back: { port: back.port, state: back.state } },
  "no way back": { back: null },
  "a way of its own": { way: "password" },
  "controls in the name": { machine: "a\u001b[2J\u202e" },
  "a name of many letters": { machine: "a".repeat(101) },
  "no name": { machine: " " }
}

const beginnings = Object.entries(leadingAway).map(([name, more]): Attempt => ({
  name: `a beginning with ${name}`,
  run: async (arena) => {
    const { gateway } = await placeOf(arena, "guesses")
    const body = { way: "browser", machine: "laptop", back, ...more }
    const { status, text } = await told(gateway, "POST", "/api/logins", {}, body)
    return status === 400 ? null : `it was answered with ${status}: ${text}`
  }
}))

const filled = (path: string): string =>
  path
    .replace("/*", "/models/m:generateContent")
    .replaceAll(/:(?:provider|token)/g, "openai")
    .replaceAll(/:[a-zA-Z]+/g, "none")

/** A person whose login asks where logins do not count. */
const memberOf = once(async (arena, role: string) => {
  const directory = await placeOf(arena, "tokens")
  const name = arena.fresh(role)
  const visitor = await signedIn(directory, name)
  const { id } = await userOf(directory.gateway, `${name}@example.com`)
  const { key } = await directory.gateway.must("POST", "/api/keys", { name, userId: id })
  const token = await tokenOf(directory, visitor)
  if (role !== "member") await directory.gateway.must("PUT", `/api/users/${id}`, { role })
  return { directory, visitor, token, id, keyId: String(key.id) }
})

const models = routes.filter(
  ({ path, tier }) => tier === "inference" && !path.includes("/editor/") && !/mcp|a2a/.test(path)
)
const wrongPlaces: Readonly<Record<string, (token: string, keyId: string) => Headers>> = {
  "as a bearer": (token) => ({ authorization: `Bearer ${token}` }),
  "as x-api-key": (token) => ({ "x-api-key": token }),
  "as x-goog-api-key": (token) => ({ "x-goog-api-key": token }),
  "with a key to act with": (token, keyId) => ({ authorization: `Bearer ${token}`, "x-gateway-as-key": keyId })
}

/** The login of an admin asks models. */
const askingModels = pairs(models, Object.keys(wrongPlaces)).map(([{ method, path }, name]): Attempt => ({
  name: `${method} ${path} with a login ${name}`,
  run: async (arena) => {
    const { directory, keyId, token } = await memberOf(arena, "admin")
    const headers = wrongPlaces[name]?.(token, keyId) ?? {}
    const { status, text } = await told(
      directory.gateway,
      method,
      filled(path),
      headers,
      method === "GET" ? undefined : {}
    )
    return status === 401 || status === 403 ? null : `it was answered with ${status}: ${text.slice(0, 200)}`
  }
}))

/** Other forms of the credential, and other places for it. */
const forms: Readonly<Record<string, (token: string, visitor: Visitor) => Headers>> = {
  "as the cookie": (token) => ({ cookie: `gateway_session=${token}` }),
  "as the cookie of TLS": (token) => ({ cookie: `__Host-gateway_session=${token}`, "x-forwarded-proto": "https" }),
  "as the cookie below a path": (token) => ({ cookie: `__Secure-gateway_session=${token}` }),
  "without its marker as the cookie": (token) => ({ cookie: `gateway_session=${token.slice(4, 47)}` }),
  "as x-api-key": (token) => ({ "x-api-key": token }),
  "as a password": (token) => ({ authorization: `Basic ${Buffer.from(`a:${token}`).toString("base64")}` }),
  "in another case": (token) => ({ authorization: `Bearer ${token.toUpperCase()}` }),
  "cut by a letter": (token) => ({ authorization: `Bearer ${token.slice(0, -1)}` }),
  "with another last letter": (token) => ({
    authorization: `Bearer ${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`
  }),
  "with the marker of a key": (token) => ({ authorization: `Bearer gw_${token.slice(4)}` }),
  "by its hash": (token) => ({ authorization: `Bearer ${createHash("sha256").update(token).digest("hex")}` }),
  "by its beginning": (token) => ({ authorization: `Bearer ${token.slice(0, 12)}` }),
  twice: (token) => ({ authorization: `Bearer ${token},${token}` }),
  "of the browser's cookie": (_, visitor) => ({ authorization: `Bearer ${visitor.session()}` }),
  "of the browser's cookie with the marker": (_, visitor) => ({ authorization: `Bearer gws_${visitor.session()}` })
}

const elsewhere = pairs(Object.keys(forms), ["/api/me", "/api/keys", "/api/usage/logs"]).map(
  ([name, path]): Attempt => ({
    name: `GET ${path} with a login ${name}`,
    run: async (arena) => {
      const { directory, token, visitor } = await memberOf(arena, "member")
      const { status, text } = await told(directory.gateway, "GET", path, forms[name]?.(token, visitor) ?? {})
      return status === 401 || status === 403 ? null : `it was answered with ${status}: ${text.slice(0, 200)}`
    }
  })
)

const endings: Readonly<Record<string, (directory: Directory, userId: string, token: string) => Promise<unknown>>> = {
  "was suspended": ({ gateway }, id) => gateway.must("PUT", `/api/users/${id}`, { state: "suspended" }),
  "was removed": ({ gateway }, id) => gateway.must("DELETE", `/api/users/${id}`),
  "has logged out": ({ gateway }, _, token) =>
    told(gateway, "POST", "/api/auth/logout", { authorization: `Bearer ${token}` }, {}),
  "is of an issuer that was switched off": ({ gateway, id }) =>
    gateway.must("PUT", `/api/issuers/${id}`, { enabled: false })
}

const outliving = pairs(Object.keys(endings), ["/api/me", "/api/keys", "/api/usage/logs", "/api/auth/session"]).map(
  ([name, path]): Attempt => ({
    name: `GET ${path} with the login of a person who ${name}`,
    run: async (arena) => {
      const directory = await placeOf(arena, "endings")
      const { gateway } = directory
      await gateway.must("PUT", `/api/issuers/${directory.id}`, { enabled: true })
      const person = arena.fresh("ends")
      const token = await tokenOf(directory, await signedIn(directory, person))
      const { id } = await userOf(gateway, `${person}@example.com`)
      const headers = { authorization: `Bearer ${token}` }
      if ((await told(gateway, "GET", "/api/me", headers)).status !== 200) return "the login itself failed"
      await endings[name]?.(directory, id, token)
      const { status, text } = await told(gateway, "GET", path, headers)
      return status === 401 ? null : `it was answered with ${status}: ${text}`
    }
  })
)

export const logins: AttackClass = {
  name: "logins at the command line",
  // What the directory says is one for all.
  atOnce: 1,
  attempts: [
    ...confirmedByOthers,
    ...simpleBodies,
    ...attemptsIn("unseen", unseen),
    ...presented,
    ...attemptsIn("unseen", replays),
    ...attemptsIn("guesses", guesses),
    ...beginnings,
    ...askingModels,
    ...elsewhere,
    ...outliving
  ]
}
