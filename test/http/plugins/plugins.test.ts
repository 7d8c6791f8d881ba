/** Plugins of a running gateway: how they come in, what they may, and what becomes of those that fail. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { samples } from "../../../src/agents/plugins/samples/index.ts"
import { eventually, eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const P = "/api/plugins"

const manifest = { name: "one", version: "1.0.0", main: "index.js", hooks: { onRequest: true } }
const code = (members: string) =>
  `import { addMetadata, blockRequest, definePlugin } from "gateway/plugin"\nexport default definePlugin({ name: "one", ${members} })\n`
const harmless = { "index.js": code("onRequest: () => addMetadata({ seen: true })") }

const setUp = Effect.gen(function* () {
  const dataDir = yield* temporaryFolder
  const gateway = yield* TestGateway.start({ dataDir })
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello" })))
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  const ask = async (
    method: string,
    path: string,
    body?: unknown
    // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  ): Promise<{ readonly status: number; readonly body: any }> => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text === "" ? null : JSON.parse(text) }
  }
  const chat = async (content = "Hi") => {
    const response = await gateway.post("/v1/chat/completions", {
      model: "up/m",
      messages: [{ role: "user", content }]
    })
    // eslint-disable-next-line typescript/no-explicit-any -- as above
    return { status: response.status, body: (await response.json()) as any }
  }
  const shown = async (name = "one") => (await gateway.manage("GET", `${P}/${name}`)).plugin
  return { gateway, upstream, dataDir, ask, chat, shown }
})
type Scene = Effect.Effect.Success<typeof setUp>

const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("installing", () => {
  scene("one comes in, is called, rests and goes", async ({ ask, chat, gateway, shown, upstream }) => {
    const made = await ask("POST", P, { manifest, files: harmless })
    assert.strictEqual(made.status, 201)
    assert.deepInclude(made.body.plugin, { name: "one", status: "installed", source: "local", lastError: null })
    assert.deepStrictEqual(made.body.plugin.hooks, {
      onRequest: { enabled: true, priority: 100, stream: "observe", body: false }
    })
    await chat()
    assert.strictEqual((await shown()).stats.calls, 0)
    assert.strictEqual((await gateway.manage("POST", `${P}/one/activate`, {})).plugin.status, "active")
    assert.strictEqual((await chat()).status, 200)
    assert.strictEqual((await shown()).stats.calls, 1)
    assert.strictEqual((await gateway.manage("POST", `${P}/one/deactivate`)).plugin.status, "inactive")
    await chat()
    assert.strictEqual((await shown()).stats.calls, 1, "counts of the last run are kept")
    await gateway.manage("POST", `${P}/one/activate`, {})
    assert.strictEqual((await shown()).stats.calls, 0, "the next run counts anew")
    await gateway.manage("POST", `${P}/one/deactivate`)
    assert.strictEqual((await ask("DELETE", `${P}/one`)).status, 204)
    assert.strictEqual((await ask("GET", `${P}/one`)).status, 404)
    assert.strictEqual(upstream.requests.length, 3)
  })

  scene("two at once: one wins, the other is 409, and replacing is said", async ({ ask }) => {
    const answers = await Promise.all([1, 2].map(() => ask("POST", P, { manifest, files: harmless })))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 409])
    assert.strictEqual(answers.find(({ status }) => status === 409)?.body.error.code, "plugin_exists")
    assert.strictEqual((await ask("POST", P, { manifest, files: harmless, replace: true })).status, 201)
  })

  scene("files that were put in its folder are not written over", async ({ ask, dataDir }) => {
    mkdirSync(join(dataDir, "plugins", "one"), { recursive: true })
    writeFileSync(join(dataDir, "plugins", "one", "mine.txt"), "mine")
    for (const replace of [false, true]) {
      const { body, status } = await ask("POST", P, { manifest, files: harmless, replace })
      assert.strictEqual(status, 409)
      assert.strictEqual(body.error.code, "plugin_files_exist")
    }
    assert.strictEqual(readFileSync(join(dataDir, "plugins", "one", "mine.txt"), "utf8"), "mine")
  })

  const bad: ReadonlyArray<readonly [string, unknown, Record<string, unknown>, string]> = [
    ["a manifest of the wrong type", { ...manifest, hooks: [] }, harmless, "hooks"],
    ["a main that is missing", { ...manifest, main: "main.js" }, harmless, "main"],
    ["a main that does not parse", manifest, { "index.js": "export default {" }, "main"],
    ["a main that throws", manifest, { "index.js": 'throw new Error("no")' }, "main"],
    ["a main that loops", manifest, { "index.js": "while (true) {}" }, "main"],
    ["a main without a default export", manifest, { "index.js": "export const a = 1" }, "main"],
    [
      "a hook without a function",
      { ...manifest, hooks: { onRequest: true, onError: true } },
      harmless,
      "hooks.onError"
    ],
    ["a path out of the folder", manifest, { ...harmless, "../out.js": "" }, "files.../out.js"],
    ["an absolute path", manifest, { ...harmless, "/etc/out.js": "" }, "files./etc/out.js"],
    ["names in other letter case", manifest, { ...harmless, "INDEX.js": "" }, "files.INDEX.js"],
    ["a file that is no text", manifest, { ...harmless, "a.js": null }, "files.a.js"],
    ["a file __proto__ that is no text", manifest, JSON.parse('{"index.js":"","__proto__":{}}'), "files.__proto__"],
    ["a name that a route has", { ...manifest, name: "scan" }, harmless, "name"]
  ]
  scene("what is wrong is 400 with its field, and nothing is installed", async ({ ask, gateway }) => {
    for (const [what, given, files, field] of bad) {
      const { body, status } = await ask("POST", P, { manifest: given, files })
      assert.strictEqual(status, 400, what)
      assert.include(
        body.error.details.map((each: { field: string }) => each.field),
        field,
        what
      )
    }
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`${at}.js`, ""]))
    assert.strictEqual((await ask("POST", P, { manifest, files: { ...harmless, ...many } })).status, 400)
    const large = { ...harmless, "a.js": "x".repeat(5 * 1_048_576 + 1) }
    assert.strictEqual((await ask("POST", P, { manifest, files: large })).status, 400)
    assert.strictEqual((await ask("POST", P, { manifest, files: harmless, path: "/tmp" })).status, 400)
    assert.deepStrictEqual((await gateway.manage("GET", P)).plugins, [])
    assert.deepStrictEqual((await gateway.manage("POST", `${P}/scan`)).found, [])
    assert.strictEqual((await ask("POST", P, { manifest, files: harmless })).status, 201)
  })

  scene("warns of a function that the manifest has not, and starts what may start by itself", async ({ ask }) => {
    const files = { "index.js": code("onRequest: () => {}, onError: () => {}") }
    const { body } = await ask("POST", P, { manifest: { ...manifest, enabledByDefault: true }, files })
    assert.match(body.warnings[0], /^onError is never called/)
    assert.strictEqual(body.plugin.status, "active")
    const asking = { ...manifest, enabledByDefault: true, requires: { permissions: ["env"] } }
    const second = await ask("POST", P, { manifest: asking, files, replace: true })
    assert.strictEqual(second.body.plugin.status, "inactive", "a new permission is asked for again")
  })
})

describe("permissions and settings", () => {
  scene("what was not granted is 409 with its list; exec needs the variable, too", async ({ ask }) => {
    const requires = { permissions: ["env", "exec"] }
    await ask("POST", P, { manifest: { ...manifest, requires }, files: harmless })
    const refused = await ask("POST", `${P}/one/activate`, { grant: ["env"] })
    assert.strictEqual(refused.status, 409)
    assert.strictEqual(refused.body.error.code, "permissions_not_granted")
    assert.deepStrictEqual(
      refused.body.error.details.map((each: { field: string }) => each.field),
      ["exec"]
    )
    const exec = await ask("POST", `${P}/one/activate`, { grant: ["env", "exec"] })
    assert.deepStrictEqual([exec.status, exec.body.error.code], [409, "exec_not_allowed"])
    assert.strictEqual((await ask("POST", `${P}/one/activate`, { grant: ["network"] })).status, 400)
  })

  scene("settings are checked by field, hot, and secrets masked", async ({ ask, chat, gateway }) => {
    const configSchema = {
      words: { type: "string", default: "none" },
      key: { type: "string", secret: true },
      most: { type: "number", min: 1 }
    }
    const files = {
      "index.js": code(
        "onRequest: ({ config }) => config.words === 'refuse' ? blockRequest({ status: 429, error: { message: config.key, code: 'x' } }) : undefined"
      )
    }
    await ask("POST", P, { manifest: { ...manifest, configSchema }, files })
    await gateway.manage("POST", `${P}/one/activate`, {})
    assert.strictEqual((await chat()).status, 200)
    const set = await ask("PUT", `${P}/one/config`, { values: { words: "refuse", key: "sk-0123456789abcdef" } })
    assert.deepStrictEqual(set.body.values, { words: "refuse", key: "sk-…cdef", most: null })
    const blocked = await chat()
    assert.deepStrictEqual([blocked.status, blocked.body.error.message], [429, "sk-0123456789abcdef"])
    const wrong = await ask("PUT", `${P}/one/config`, {
      values: JSON.parse('{"words":5,"most":0,"other":1,"__proto__":1}')
    })
    assert.deepStrictEqual(
      wrong.body.error.details.map((each: { field: string }) => each.field),
      ["values.words", "values.most", "values.other", "values.__proto__"]
    )
    await ask("POST", P, { manifest: { ...manifest, version: "2.0.0", configSchema }, files, replace: true })
    assert.strictEqual((await chat()).status, 429, "a replaced plugin keeps its settings and goes on")
  })
})

describe("plugins that fail", () => {
  scene("one is skipped, stopped after five failures in a row, and told of", async ({ ask, chat, gateway, shown }) => {
    await ask("POST", P, { manifest, files: { "index.js": code("onRequest: () => { throw new Error('no') }") } })
    await gateway.manage("POST", `${P}/one/activate`, {})
    for (let at = 0; at < 5; at += 1) assert.strictEqual((await chat()).status, 200)
    await eventually(
      "the plugin is stopped",
      async () => (await shown()).status,
      (status) => status === "error"
    )
    assert.match((await shown()).lastError, /5 times in a row.*no/)
    const row = await eventuallyFound("the row of the audit log", async () => {
      const rows = await gateway.manage("GET", "/api/compliance/audit-log?action=plugins.stopped")
      return rows[0]
    })
    assert.deepInclude(row, { actor: "gateway", target: "one", status: "failure" })
    assert.strictEqual((await chat()).status, 200)
  })

  scene(
    "a guard refuses requests instead, also when it was stopped",
    async ({ ask, chat, gateway, shown, upstream }) => {
      const guard = { ...manifest, failClosed: true }
      await ask("POST", P, {
        manifest: guard,
        files: { "index.js": code("onRequest: () => { throw new Error('no') }") }
      })
      await gateway.manage("POST", `${P}/one/activate`, {})
      for (let at = 0; at < 6; at += 1) {
        const { body, status } = await chat()
        assert.deepStrictEqual([status, body.error.code], [503, "plugin_failed"])
      }
      await eventually(
        "the guard is stopped",
        async () => (await shown()).status,
        (status) => status === "error"
      )
      assert.strictEqual((await chat()).status, 503)
      assert.strictEqual(upstream.requests.length, 0)
      await gateway.manage("POST", `${P}/one/deactivate`)
      assert.strictEqual((await chat()).status, 200)
    }
  )

  scene(
    "changed files stop it, and it starts again once they are installed anew",
    async ({ ask, dataDir, gateway, shown }) => {
      await ask("POST", P, { manifest, files: harmless })
      await gateway.manage("POST", `${P}/one/activate`, {})
      writeFileSync(join(dataDir, "plugins", "one", "index.js"), "export default 1")
      const { found } = await gateway.manage("POST", `${P}/scan`)
      assert.strictEqual(found[0].status, "changed")
      assert.strictEqual((await shown()).status, "error")
      const refused = await ask("POST", `${P}/one/activate`, {})
      assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "plugin_changed"])
      const again = await ask("POST", P, { manifest, files: harmless, replace: true })
      assert.strictEqual(again.body.plugin.status, "active")
    }
  )
})

scene("a test calls it in a sandbox of its own, with its log", async ({ ask }) => {
  await ask("POST", P, {
    manifest,
    files: { "index.js": code("onRequest: ({ body }) => { console.log(body.a); return blockRequest() }") }
  })
  const { body } = await ask("POST", `${P}/one/test`, { hook: "onRequest", context: { body: { a: 7 } } })
  assert.strictEqual(body.action, "blocked")
  assert.deepInclude(body.logs[0], { message: "7", hook: "onRequest" })
  assert.strictEqual((await ask("POST", `${P}/one/test`, { hook: "onNothing" })).status, 400)
})

scene("each plugin of the marketplace can be installed and starts", async ({ ask, gateway }) => {
  const { plugins } = await gateway.manage("GET", `${P}/marketplace`)
  assert.strictEqual(plugins.length, samples.length)
  for (const { integrity, name, permissions } of plugins) {
    const { body, status } = await ask("POST", `${P}/marketplace/${name}/install`)
    assert.strictEqual(status, 201, JSON.stringify(body))
    assert.deepInclude(body.plugin, { source: "marketplace", integrity })
    assert.deepStrictEqual(body.warnings, [])
    assert.strictEqual((await ask("POST", `${P}/${name}/activate`, { grant: permissions })).status, 200)
  }
  assert.isTrue(
    (await gateway.manage("GET", `${P}/marketplace`)).plugins.every((each: { installed: boolean }) => each.installed)
  )
  assert.strictEqual((await ask("POST", `${P}/marketplace/nothing/install`)).status, 404)
})
