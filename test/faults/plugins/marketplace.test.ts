/** The list of plugins elsewhere, over TLS from a real server to the built program: what is taken of it, and all that is not. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { integrityOf, withManifest } from "../../../src/agents/plugins/files/PluginFiles.ts"
import { samples } from "../../../src/agents/plugins/samples/index.ts"
import { fed, program } from "../../cli/support.ts"
import * as Https from "../../support/HttpsServer.ts"
import { moduleOf, plugins as P } from "../../support/RealPlugins.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { type Certificate, makeCertificate } from "../../support/tunnels/Certificate.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const { main, serve } = program()

const own = samples.map(({ manifest }) => manifest.name)

interface Package {
  readonly manifest: Readonly<Record<string, unknown>>
  readonly files: Readonly<Record<string, string>>
}

const packageOf = (name: string, version = "1.0.0", note = ""): Package => ({
  manifest: { name, version, main: "index.js", hooks: { onRequest: true } },
  files: { "index.js": moduleOf(name, "onRequest: () => addMetadata({ seen: true })", `// ${note}`) }
})

const hashOf = ({ files, manifest }: Package): string =>
  integrityOf(withManifest(new Map(Object.entries(files)), manifest))

const rooms = Effect.runSync(Scope.make())
const opened = <A>(effect: Effect.Effect<A, never, Scope.Scope>) => Effect.runPromise(Scope.extend(effect, rooms))

/** One program for all of them, which trusts the first of two certificates. */
const running = (): Promise<{
  readonly url: string
  readonly dataDir: string
  readonly trusted: Certificate
  readonly unknown: Certificate
}> =>
  opened(
    Effect.gen(function* () {
      const [trusted, unknown] = [makeCertificate(), makeCertificate()]
      const dataDir = yield* temporaryFolder
      const authority = join(yield* temporaryFolder, "authority.pem")
      writeFileSync(authority, trusted.certPem)
      const { url } = yield* Effect.acquireRelease(
        Effect.promise(() =>
          serve({
            DATA_DIR: dataDir,
            GATEWAY_ADMIN_KEY: TestGateway.adminKey,
            NODE_EXTRA_CA_CERTS: authority,
            OUTBOUND_SSRF_GUARD_ENABLED: "false"
          })
        ),
        ({ stop }) => Effect.promise(() => stop("SIGTERM"))
      )
      return { url, dataDir, trusted, unknown }
    })
  )
const room: { current: Awaited<ReturnType<typeof running>> | null } = { current: null }
beforeAll(async () => {
  room.current = await running()
}, 60_000)
afterAll(() => Effect.runPromise(Scope.close(rooms, Exit.void)))

const setUp = Effect.gen(function* () {
  const { current } = room
  if (current === null) return yield* Effect.dieMessage("the program does not run")
  const { dataDir, trusted, unknown, url } = current
  const server = yield* Https.start(trusted)
  const stranger = yield* Https.start(unknown)
  const gateway = TestGateway.client(url)
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
    return { status: response.status, body: (await response.json()) as any }
  }
  const offer = (given: Package, more: Readonly<Record<string, unknown>> = {}) => {
    const { name, version } = given.manifest
    const description = `What ${String(name)} does.`
    const at = `/${String(name)}.json`
    return { name, version, description, permissions: [], integrity: hashOf(given), url: server.origin + at, ...more }
  }
  /** Has packages, and offers of them or others, at the address of the list. */
  const offers = (given: ReadonlyArray<Package>, listed: ReadonlyArray<unknown> = given.map((each) => offer(each))) => {
    for (const each of given) server.routes.set(`/${String(each.manifest["name"])}.json`, Https.json(each))
    server.routes.set("/list.json", Https.json({ plugins: listed }))
  }
  const point = (address = `${server.origin}/list.json`) =>
    gateway.manage("PATCH", "/api/settings", { pluginMarketplaceUrl: address })
  const list = (): Promise<{
    readonly plugins: ReadonlyArray<{ readonly name: string; readonly url: string | null; readonly installed: boolean }>
    readonly remoteError: string | null
  }> => gateway.manage("GET", `${P}/marketplace`)
  const install = (name: string) => ask("POST", `${P}/marketplace/${name}/install`)
  const typed = async (...words: ReadonlyArray<string>) => {
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: dataDir,
      GATEWAY_URL: url,
      GATEWAY_ADMIN_KEY: TestGateway.adminKey
    }
    const { code, stderr, stdout } = await fed(main, words, env, "", dataDir)
    return { code, said: stdout.toString() + stderr }
  }
  const nothingIsInstalled = async () => {
    assert.deepStrictEqual((await gateway.manage("GET", P)).plugins, [])
    assert.deepStrictEqual((await gateway.manage("POST", `${P}/scan`)).found, [])
    const folder = join(dataDir, "plugins")
    const left = existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : []
    assert.deepStrictEqual(
      left.filter((path) => !/^\.(?:new|old)$/.test(path)),
      []
    )
  }
  yield* Effect.acquireRelease(
    Effect.promise(() => point()),
    () =>
      Effect.promise(async () => {
        for (const { name } of (await gateway.manage("GET", P)).plugins) await gateway.manage("DELETE", `${P}/${name}`)
      })
  )
  return { ask, dataDir, gateway, install, list, nothingIsInstalled, offer, offers, point, server, stranger, typed }
})
type Scene = Effect.Effect.Success<typeof setUp>

const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))), 60_000)

describe("a list elsewhere", () => {
  scene("is shown behind the own plugins, and what it has is installed with its hash", async (given) => {
    const { gateway, install, list, offer, offers, server, typed } = given
    const hello = packageOf("hello")
    offers([hello])
    const { plugins, remoteError } = await list()
    assert.isNull(remoteError)
    assert.deepStrictEqual(
      plugins.map(({ name }) => name),
      [...own, "hello"]
    )
    assert.deepStrictEqual(plugins.at(-1), { ...offer(hello), installed: false } as never)

    const { body, status } = await install("hello")
    assert.strictEqual(status, 201)
    const { integrity } = offer(hello)
    assert.deepInclude(body.plugin, { name: "hello", source: "marketplace", status: "installed", integrity })
    assert.isTrue((await list()).plugins.at(-1)?.installed)
    assert.deepStrictEqual((await gateway.manage("POST", `${P}/scan`)).found, [
      { name: "hello", status: "installed", errors: [] }
    ])

    server.asked.length = 0
    const shown = await typed("plugin", "marketplace")
    assert.match(shown.said, /hello +1\.0\.0 +yes/)
    const activated = await typed("plugin", "install", "hello", "--activate")
    assert.strictEqual(activated.code, 0, activated.said)
    assert.strictEqual((await gateway.manage("GET", `${P}/hello`)).plugin.status, "active")
  })

  scene("takes what 'plugin pack' has written, with the hash that it told", async (given) => {
    const { dataDir, install, offer, offers, server, typed } = given
    await typed("plugin", "new", "packed")
    const { code, said } = await typed("plugin", "pack", "packed", "--to", "packed.json", "--json")
    assert.strictEqual(code, 0, said)
    const { integrity } = JSON.parse(said)
    const text = readFileSync(join(dataDir, "packed.json"), "utf8")
    offers([], [offer(JSON.parse(text), { integrity })])
    server.routes.set("/packed.json", Https.text(text))
    const { body, status } = await install("packed")
    assert.strictEqual(status, 201, JSON.stringify(body))
    assert.strictEqual(body.plugin.integrity, integrity)
  })

  scene(
    "is asked by nothing but the setting, and not at all without one",
    async ({ gateway, list, offers, server }) => {
      offers([packageOf("hello")])
      await gateway.manage("PATCH", "/api/settings", { pluginMarketplaceUrl: null })
      const { plugins, remoteError } = await list()
      assert.deepStrictEqual(
        plugins.map(({ name }) => name),
        own
      )
      assert.isNull(remoteError)
      assert.deepStrictEqual(server.asked, [])
    }
  )

  const large = "x".repeat(1_048_576)
  const tenMegabytes = Array.from({ length: 10 }, () => large)

  /** How the list is answered, and what is told of it. */
  const wrong: ReadonlyArray<readonly [string, (scene: Scene) => Https.Route, RegExp]> = [
    ["no JSON", () => Https.text("<html>"), /no JSON that can be read/],
    ["JSON of another form", () => Https.json(["hello"]), /not what is expected\.?$/],
    ["no plugins in it", () => Https.json({}), /not what is expected at 'plugins'/],
    ["nothing", () => Https.text(""), /no JSON that can be read/],
    ["10 MB with its length", () => Https.text(tenMegabytes.join("")), /larger than 1048576 bytes/],
    [
      "10 MB without a length",
      () => (response) => {
        response.writeHead(200)
        for (const part of tenMegabytes) response.write(part)
        response.end()
      },
      /larger than 1048576 bytes/
    ],
    [
      "10,000 plugins",
      () => Https.json({ plugins: Array.from({ length: 10_000 }, (_, at) => ({ name: `p-${at}` })) }),
      /has more than 500 plugins/
    ],
    ...["../hello", "..", "/etc/passwd", "Hello", "hello\u0000", "__proto__", "a".repeat(65)].map(
      (name) =>
        [
          `the name ${JSON.stringify(name)}`,
          ({ offer }: Scene) =>
            Https.json({ plugins: [offer(packageOf("hello")), offer(packageOf("hello"), { name })] }),
          /not what is expected at 'plugins\.1\.name'/
        ] as const
    ),
    [
      "the same name twice",
      ({ offer }) => Https.json({ plugins: [offer(packageOf("hello")), offer(packageOf("hello", "2.0.0"))] }),
      /has 'hello' twice/
    ],
    ...(
      [
        ["url", "http://127.0.0.1/hello.json"],
        ["url", "file:///etc/passwd"],
        ["integrity", "md5-1B2M2Y8AsgTpgAmY7PhCfg=="],
        ["permissions", ["network", "root"]],
        ["description", { text: "Hello" }],
        ["version", 1]
      ] as const
    ).map(
      ([field, value]) =>
        [
          `a ${field} of ${JSON.stringify(value)}`,
          ({ offer }: Scene) => Https.json({ plugins: [offer(packageOf("hello"), { [field]: value })] }),
          new RegExp(`not what is expected at 'plugins\\.0\\.${field}`)
        ] as const
    ),
    ["404", () => Https.text("Not here", 404), /answered with the status 404/],
    ["500", () => Https.text("Broken", 500), /answered with the status 500/],
    ["204", () => (response) => void response.writeHead(204).end(), /answered with the status 204/],
    ["a circle of redirects", () => Https.redirect("/list.json"), /redirected too often, or to where it must not/],
    [
      "a redirect to plain http",
      () => Https.redirect("http://127.0.0.1/list.json"),
      /redirected too often, or to where/
    ],
    ["a redirect without an address", () => Https.redirect("https://"), /redirected too often, or to where/],
    ["a redirect to metadata", () => Https.redirect("https://169.254.169.254/"), /an address that is not called/],
    ["a redirect to a file", () => Https.redirect("file:///etc/passwd"), /an address that is not called/],
    [
      "half of it",
      () => (response) => {
        response.writeHead(200, { "content-length": "100" })
        response.write('{"plugins"', () => response.destroy())
      },
      /cannot be reached/
    ],
    ["a connection that is closed", () => (response) => void response.destroy(), /cannot be reached/]
  ]

  scene("that is wrong leaves the own plugins, and says why; nothing is installed", async (given) => {
    const { gateway, install, list, nothingIsInstalled, offers, point, server, stranger, typed } = given
    const hello = packageOf("hello")
    const refused = async (what: string, reason: RegExp) => {
      const { plugins, remoteError } = await list()
      assert.deepStrictEqual(
        plugins.map(({ name }) => name),
        own,
        what
      )
      assert.match(remoteError ?? "", reason, what)
      assert.isBelow((remoteError ?? "").length, 300, what)
      const { body, status } = await install("hello")
      assert.strictEqual(status, 502, what)
      assert.strictEqual(body.error.code, "marketplace_failed", what)
      assert.match(body.error.message, reason, what)
    }
    for (const [what, route, reason] of wrong) {
      offers([hello])
      server.routes.set("/list.json", route(given))
      await refused(what, reason)
    }
    offers([hello])
    await point(`${server.origin.replace("//", "//somebody:secret@")}/list.json`)
    await refused("a password in the address", /an address that is not called/)
    stranger.routes.set("/list.json", Https.json({ plugins: [] }))
    await point(`${stranger.origin}/list.json`)
    await refused("a certificate that nobody trusts", /cannot be reached.*TLS/)
    assert.deepStrictEqual(stranger.asked, [])
    await stranger.close()
    await refused("a server that is gone", /cannot be reached.*refused/)

    const shown = await typed("plugin", "marketplace")
    assert.strictEqual(shown.code, 0)
    assert.include(shown.said, "rate-limiter")
    assert.match(shown.said, /Those of the list elsewhere are not shown: .*cannot be reached/)
    const tried = await typed("plugin", "install", "hello")
    assert.strictEqual(tried.code === 0, false)
    assert.match(tried.said, /cannot be reached/)
    assert.strictEqual((await install("word-guard")).status, 201, "the own ones need no list")
    await gateway.manage("DELETE", `${P}/word-guard`)
    await nothingIsInstalled()

    await point()
    assert.strictEqual((await install("hello")).status, 201, "the list is fine again")
  })

  it.scopedLive("at a private address is not called without permission", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const server = yield* Https.start(makeCertificate())
      const { port } = new URL(server.origin)
      yield* Effect.promise(async () => {
        for (const host of ["127.0.0.1", "localhost", "[::1]", "192.168.1.1", "169.254.169.254", "plugins.internal"]) {
          const pluginMarketplaceUrl = `https://${host}:${port}/list.json`
          await gateway.manage("PATCH", "/api/settings", { pluginMarketplaceUrl })
          const { plugins, remoteError } = await gateway.manage("GET", `${P}/marketplace`)
          assert.lengthOf(plugins, own.length, host)
          assert.match(remoteError, /an address that is not called.*outbound policy/, host)
        }
      })
      assert.strictEqual(server.connections(), 0)
    })
  )

  scene("does not tell its address, which may hold a key", async ({ install, list, point, server }) => {
    await point(`${server.origin}/nowhere.json?key=sk-secret-0123456789`)
    const { remoteError } = await list()
    assert.match(remoteError ?? "", /answered with the status 404/)
    assert.notInclude(remoteError ?? "", "sk-secret")
    assert.notInclude(JSON.stringify((await install("hello")).body), "sk-secret")
    assert.include(server.asked, "/nowhere.json?key=sk-secret-0123456789")
  })

  scene("may be moved to another https address, and so may a plugin", async ({ install, offer, offers, server }) => {
    const hello = packageOf("hello")
    offers([hello], [offer(hello, { url: `${server.origin}/old.json` })])
    server.routes.set("/moved.json", server.routes.get("/list.json") ?? Https.text(""))
    server.routes.set("/list.json", Https.redirect(`${server.origin}/moved.json`, 307))
    server.routes.set("/old.json", Https.redirect("/hello.json", 301))
    assert.strictEqual((await install("hello")).status, 201)
    assert.deepStrictEqual(server.asked, ["/list.json", "/moved.json", "/old.json", "/hello.json"])
  })
})

describe("a plugin of it", () => {
  const hello = packageOf("hello")
  const other = { ...hello, files: { "index.js": `${hello.files["index.js"]}//` } }
  const asking = { ...hello, manifest: { ...hello.manifest, requires: { permissions: ["network"] } } }

  /** What is at its address, and what is told of it. */
  const wrong: ReadonlyArray<readonly [string, Https.Route, RegExp]> = [
    ["other code", Https.json(other), /have not the hash that the list names/],
    ["one permission more", Https.json(asking), /have not the hash that the list names/],
    ["one file more", Https.json({ ...hello, files: { ...hello.files, "b.js": "" } }), /have not the hash/],
    ["no JSON", Https.text("PK\u0003\u0004"), /'hello' is no JSON that can be read/],
    ["JSON of another form", Https.json({ manifest: {} }), /'hello' is not what is expected at 'files'/],
    ["a file that is no text", Https.json({ ...hello, files: { "index.js": 1 } }), /not what is expected at 'files/],
    ["11 MB", Https.text("x".repeat(11 * 1_048_576)), /'hello' is larger than 10485760 bytes/],
    ["404", Https.text("", 404), /'hello' was answered with the status 404/],
    ["500", Https.text("", 500), /'hello' was answered with the status 500/],
    ["a redirect to metadata", Https.redirect("http://169.254.169.254/"), /redirected too often, or to where/],
    ["a connection that is closed", (response) => void response.destroy(), /'hello' cannot be reached/]
  ]

  scene("that is not what the list says is not installed", async ({ install, nothingIsInstalled, offers, server }) => {
    for (const [what, route, reason] of wrong) {
      offers([hello])
      server.routes.set("/hello.json", route)
      const { body, status } = await install("hello")
      assert.strictEqual(status, 502, what)
      assert.strictEqual(body.error.code, "marketplace_failed", what)
      assert.match(body.error.message, reason, what)
    }
    await nothingIsInstalled()
  })

  scene("that has another name or version than the list says is not installed", async (given) => {
    const { install, nothingIsInstalled, offer, offers } = given
    for (const more of [{ version: "1.0.1" }, { name: "other" }]) {
      offers([hello], [offer(hello, more)])
      const { body, status } = await install(more.name ?? "hello")
      assert.strictEqual(status, 502)
      assert.match(body.error.message, /is of another plugin or version/)
    }
    await nothingIsInstalled()
  })

  const invalid: ReadonlyArray<readonly [string, Package, string]> = [
    ["a path out of the folder", { ...hello, files: { ...hello.files, "../out.js": "" } }, "files.../out.js"],
    ["a path of the machine", { ...hello, files: { ...hello.files, "/tmp/out.js": "" } }, "files./tmp/out.js"],
    ["an unknown event", { ...hello, manifest: { ...hello.manifest, hooks: { onMonday: true } } }, "hooks.onMonday"],
    ["a main that throws", { ...hello, files: { "index.js": 'throw new Error("no")' } }, "main"]
  ]

  scene("is looked at as every other one, whatever its hash", async ({ install, nothingIsInstalled, offers }) => {
    for (const [what, given, field] of invalid) {
      offers([given])
      const { body, status } = await install("hello")
      assert.strictEqual(status, 400, what)
      assert.include(
        body.error.details.map((each: { field: string }) => each.field),
        field,
        what
      )
    }
    await nothingIsInstalled()
  })

  scene("with the name of one that comes with the gateway stays away", async (given) => {
    const { install, list, offers, server } = given
    offers([packageOf("rate-limiter"), hello])
    const { plugins } = await list()
    assert.deepStrictEqual(
      plugins.map(({ name }) => name),
      [...own, "hello"]
    )
    assert.isNull(plugins.find(({ name }) => name === "rate-limiter")?.url)
    server.asked.length = 0
    const { body } = await install("rate-limiter")
    const sample = samples.find(({ manifest }) => manifest.name === "rate-limiter")
    assert.strictEqual(body.plugin.integrity, sample?.integrity)
    assert.deepStrictEqual(server.asked, [], "nothing is asked for it")
  })

  scene(
    "does not take the place of one that came from elsewhere",
    async ({ ask, gateway, install, list, offers, typed }) => {
      const mine = packageOf("hello", "1.0.0", "mine")
      assert.strictEqual((await ask("POST", P, mine)).status, 201)
      offers([hello])
      assert.isFalse((await list()).plugins.at(-1)?.installed)
      const { body, status } = await install("hello")
      assert.strictEqual(status, 409)
      assert.strictEqual(body.error.code, "plugin_exists")
      assert.match(body.error.message, /not from the marketplace. Remove it/)
      const tried = await typed("plugin", "install", "hello", "--activate")
      assert.notStrictEqual(tried.code, 0)
      assert.match(tried.said, /not from the marketplace/)
      assert.deepInclude((await gateway.manage("GET", `${P}/hello`)).plugin, {
        integrity: hashOf(mine),
        source: "local",
        status: "installed"
      })
    }
  )

  scene("takes the place of its earlier version, and of its own changed files", async (given) => {
    const { dataDir, gateway, install, list, offers } = given
    offers([hello])
    assert.strictEqual((await install("hello")).status, 201)
    const again = await install("hello")
    assert.strictEqual(again.status, 409)
    assert.match(again.body.error.message, /installed already, with the same files/)
    await gateway.manage("POST", `${P}/hello/activate`, {})

    const next = packageOf("hello", "1.1.0", "next")
    offers([next])
    assert.isFalse((await list()).plugins.at(-1)?.installed)
    assert.deepInclude((await install("hello")).body.plugin, { version: "1.1.0", status: "active" })

    writeFileSync(join(dataDir, "plugins/hello/index.js"), "// changed")
    assert.strictEqual((await gateway.manage("POST", `${P}/scan`)).found[0].status, "changed")
    const mended = await install("hello")
    assert.strictEqual(mended.status, 201)
    assert.deepInclude(mended.body.plugin, { status: "active", integrity: hashOf(next), lastError: null })
  })

  scene("is installed once where two ask for it at once", async ({ install, offers }) => {
    offers([hello])
    const answers = await Promise.all([install("hello"), install("hello")])
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 409])
  })
})
