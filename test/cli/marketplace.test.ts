/** The list of plugins elsewhere (`docs/plugins.md`), with the built program and a real server that it has no reason to trust. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { integrityOf, withManifest } from "../../src/plugins/files/PluginFiles.ts"
import { adminKey } from "../support/TestGateway.ts"
import { makeCertificate } from "../support/tunnels/Certificate.ts"
import { fed, program } from "./support.ts"

const { dataDir, main, serve } = program()

const json =
  (value: unknown, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

const raw =
  (content: string | Buffer): RequestListener =>
  (_, response) =>
    void response.end(content)

const cut: RequestListener = (_, response) => void response.writeHead(200, { "content-length": "999" }).end("{")

const elsewhere =
  (location: string): RequestListener =>
  (_, response) =>
    void response.writeHead(302, { location }).end()

/** A server whose answers a test changes, by path. */
const openShop = Effect.acquireRelease(
  Effect.promise(async () => {
    const { certPem, keyPem } = makeCertificate()
    const pages = new Map<string, RequestListener>()
    const asked: Array<string> = []
    const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
      asked.push(request.url ?? "")
      const page = pages.get(request.url ?? "")
      if (page === undefined) response.writeHead(404).end()
      else page(request, response)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const url = `https://localhost:${(server.address() as AddressInfo).port}`
    return { asked, certPem, pages, server, url }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
)

const manifest = { name: "greeter", version: "1.2.3", main: "index.js", hooks: { onRequest: true } }
const files = {
  "index.js": `import { definePlugin } from "gateway/plugin"\nexport default definePlugin({ name: "greeter", onRequest: () => {} })\n`
}
const integrity = integrityOf(withManifest(new Map(Object.entries(files)), manifest))

const offer = (url: string, more: object = {}) => ({
  name: "greeter",
  version: "1.2.3",
  description: "Says hello.",
  permissions: [],
  integrity,
  url: `${url}/greeter.json`,
  ...more
})

const setUp = (isGuarded: boolean) =>
  Effect.gen(function* () {
    const shop = yield* openShop
    const folder = dataDir()
    const authority = join(folder, "authority.pem")
    writeFileSync(authority, shop.certPem)
    const server = yield* Effect.acquireRelease(
      Effect.promise(() =>
        serve({
          DATA_DIR: dataDir(),
          GATEWAY_ADMIN_KEY: adminKey,
          NODE_EXTRA_CA_CERTS: authority,
          OUTBOUND_SSRF_GUARD_ENABLED: String(isGuarded)
        })
      ),
      ({ stop }) => Effect.promise(() => stop("SIGTERM"))
    )
    const ask = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, body: text === "" ? null : JSON.parse(text) }
    }
    const typed = async (...words: ReadonlyArray<string>) => {
      const env = { PATH: process.env["PATH"] ?? "", HOME: folder, DATA_DIR: folder, GATEWAY_URL: server.url }
      const { code, stderr, stdout } = await fed(main, words, { ...env, GATEWAY_ADMIN_KEY: adminKey }, "", folder)
      return { code, text: stdout.toString() + stderr }
    }
    const list = async () => {
      const { body } = await ask("GET", "/api/plugins/marketplace")
      const names: ReadonlyArray<string> = body.plugins.map(({ name }: { name: string }) => name)
      return { names, error: body.remoteError as string | null, plugins: body.plugins }
    }
    const install = (name: string) => ask("POST", `/api/plugins/marketplace/${name}/install`)
    yield* Effect.promise(() => ask("PATCH", "/api/settings", { pluginMarketplaceUrl: `${shop.url}/list.json` }))
    return { ask, install, list, shop, typed }
  })
type Scene = Effect.Effect.Success<ReturnType<typeof setUp>>

const scene = (name: string, play: (scene: Scene) => Promise<void>, isGuarded = false) =>
  it.scopedLive(name, () => Effect.flatMap(setUp(isGuarded), (given) => Effect.promise(() => play(given))), 60_000)

describe("a list of plugins elsewhere", () => {
  scene("is shown beside the plugins that come with the gateway, and installed from", async (given) => {
    const { ask, install, list, shop, typed } = given
    const taken = offer(shop.url, { name: "cost-tracker" })
    shop.pages.set("/list.json", json({ plugins: [offer(shop.url), taken] }))
    shop.pages.set("/greeter.json", json({ manifest, files }))
    const { error, names, plugins } = await list()
    assert.isNull(error)
    assert.strictEqual(names.filter((name) => name === "greeter").length, 1)
    assert.strictEqual(names.filter((name) => name === "cost-tracker").length, 1, "a name of ours stays ours")
    const ours = plugins.find(({ name }: { name: string }) => name === "cost-tracker")
    assert.notStrictEqual(ours.integrity, integrity)
    assert.include((await typed("plugin", "marketplace")).text, "greeter")
    const { code, text } = await typed("plugin", "install", "greeter")
    assert.strictEqual(code, 0, text)
    const { body } = await ask("GET", "/api/plugins/greeter")
    assert.deepInclude(body.plugin, { source: "marketplace", version: "1.2.3", status: "installed", integrity })
    assert.isTrue((await list()).plugins.some((each: { installed: boolean; name: string }) => each.installed))
    assert.strictEqual((await install("greeter")).status, 409, "it is there")
    // Another version takes its place.
    const next = { ...manifest, version: "1.3.0" }
    const nextIntegrity = integrityOf(withManifest(new Map(Object.entries(files)), next))
    shop.pages.set("/list.json", json({ plugins: [offer(shop.url, { version: "1.3.0", integrity: nextIntegrity })] }))
    shop.pages.set("/greeter.json", json({ manifest: next, files }))
    assert.strictEqual((await install("greeter")).status, 201)
    assert.strictEqual((await ask("GET", "/api/plugins/greeter")).body.plugin.version, "1.3.0")
  })

  scene("installs nothing but what it names", async ({ ask, install, shop }) => {
    shop.pages.set("/list.json", json({ plugins: [offer(shop.url)] }))
    const other = { "index.js": `${files["index.js"]}// changed\n` }
    const wrong: ReadonlyArray<readonly [string, RequestListener, RegExp]> = [
      ["other files", json({ manifest, files: other }), /have not the hash/],
      ["another manifest", json({ manifest: { ...manifest, version: "9.0.0" }, files }), /have not the hash/],
      ["more files", json({ manifest, files: { ...files, "../../evil.js": "1" } }), /have not the hash/],
      ["no JSON", raw("<html>"), /no JSON/],
      ["another form", json([1, 2]), /has not the form/],
      ["nothing", json({}, 404), /status 404/],
      ["a failure", json({}, 500), /status 500/],
      ["a cut answer", cut, /reached/],
      ["11 MiB", raw(Buffer.alloc(11 * 1_048_576, 0x20)), /too large/]
    ]
    for (const [what, page, reason] of wrong) {
      shop.pages.set("/greeter.json", page)
      const { body, status } = await install("greeter")
      assert.strictEqual(status, 502, what)
      assert.strictEqual(body.error.code, "marketplace_failed", what)
      assert.match(body.error.message, reason, what)
      assert.strictEqual((await ask("GET", "/api/plugins/greeter")).status, 404, what)
    }
    assert.strictEqual((await install("unknown")).status, 404)
    // The hash fits, and the manifest is of another plugin.
    const foreign = { ...manifest, name: "another" }
    const foreignIntegrity = integrityOf(withManifest(new Map(Object.entries(files)), foreign))
    shop.pages.set("/list.json", json({ plugins: [offer(shop.url, { integrity: foreignIntegrity })] }))
    shop.pages.set("/greeter.json", json({ manifest: foreign, files }))
    assert.match((await install("greeter")).body.error.message, /of another plugin or version/)
  })

  scene("that cannot be read leaves the plugins that come with the gateway, and says why", async (given) => {
    const { install, list, shop, typed } = given
    const many = Array.from({ length: 10_000 }, (_, at) => offer(shop.url, { name: `greeter-${at}` }))
    const wrong: ReadonlyArray<readonly [string, RequestListener, RegExp]> = [
      ["not there", json({}, 404), /status 404/],
      ["no JSON", raw("nothing"), /no JSON/],
      ["10,000 entries", json({ plugins: many }), /too large|has not the form/],
      ["501 entries", json({ plugins: many.slice(0, 501) }), /has not the form/],
      ["a path as a name", json({ plugins: [offer(shop.url, { name: "../evil" })] }), /has not the form/],
      ["an address without TLS", json({ plugins: [offer("http://localhost:1")] }), /has not the form/],
      ["no hash", json({ plugins: [offer(shop.url, { integrity: "" })] }), /has not the form/],
      [
        "a permission that is none",
        json({ plugins: [offer(shop.url, { permissions: ["root"] })] }),
        /has not the form/
      ],
      ["2 MiB", raw(Buffer.alloc(2 * 1_048_576, 0x20)), /too large/],
      ["a way to the metadata of a machine", elsewhere("https://169.254.169.254/list.json"), /not|may/],
      ["a way down to plain HTTP", elsewhere("http://localhost:1/list.json"), /redirects/],
      ["a way round", elsewhere("/list.json"), /redirects/]
    ]
    for (const [what, page, reason] of wrong) {
      shop.pages.set("/list.json", page)
      const { error, names } = await list()
      assert.match(error ?? "none", reason, what)
      assert.include(names, "cost-tracker", what)
      assert.isFalse(
        names.some((name) => name.startsWith("greeter")),
        what
      )
      assert.strictEqual((await install("greeter")).status, 502, what)
    }
    const { code, text } = await typed("plugin", "marketplace")
    assert.strictEqual(code, 0)
    assert.match(text, /The list elsewhere is not among them: /)
    // Those of the gateway need no list.
    assert.strictEqual((await install("cost-tracker")).status, 201)
    shop.server.close()
    shop.server.closeAllConnections()
    assert.match((await list()).error ?? "none", /cannot be reached/)
  })

  scene(
    "on a private address is not asked",
    async ({ list, shop }) => {
      shop.pages.set("/list.json", json({ plugins: [offer(shop.url)] }))
      const { error, names } = await list()
      assert.isString(error)
      assert.include(names, "cost-tracker")
      assert.deepStrictEqual(shop.asked, [])
    },
    true
  )
})
