/** `gateway setup-<tool>` as a user has it: dry run, set-up, a second run, undo; and files that must not be touched. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { setupTools } from "../../src/subjects/tools/commands/SetupTools.ts"
import { maxConfigBytes } from "../../src/platform/files/ConfigFile.ts"
import * as FakeUpstream from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"
import { typed } from "../unit/cli/inProcess.ts"

let root = ""
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "gateway-setup-"))
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(root, { recursive: true, force: true })
})

interface Setting {
  readonly home: string
  readonly gateway: TestGateway.TestGateway
  readonly ask: (
    ...words: ReadonlyArray<string>
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  readonly write: (path: string, text: string) => string
}

const scenario = (name: string, run: (setting: Setting) => Promise<void>): void => {
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const home = mkdtempSync(join(root, "home-"))
      vi.stubEnv("HOME", home)
      vi.stubEnv("XDG_CONFIG_HOME", "")
      vi.stubEnv("DATA_DIR", join(home, ".gateway"))
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const account = { provider: "openai", name: "w", apiKey: "k", baseUrl: upstream.origin, wires: ["chat"] }
        await gateway.manage("POST", "/api/providers", { ...account, models: ["gpt-4o", "gpt-4o-mini"] })
        await run({
          home,
          gateway,
          ask: (...words) =>
            Effect.runPromise(typed([...words, "--url", gateway.url, "--gateway-key", TestGateway.adminKey], null)),
          write: (path, text) => {
            const file = join(home, path)
            mkdirSync(dirname(file), { recursive: true })
            writeFileSync(file, text)
            return file
          }
        })
      })
    })
  )
}

/** Everything in a folder, other folders too. */
const entriesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true }).map(String).toSorted()

const filesIn = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
        .toSorted()
    : []

describe("gateway setup-<tool>", () => {
  for (const [id, name] of setupTools.filter(([tool]) => tool !== "cursor")) {
    scenario(`sets ${name} up, changes nothing twice, and undoes it`, async ({ ask, gateway, home }) => {
      const before = entriesIn(home)
      const dry = await ask(`setup-${id}`, "--dry-run", "--json")
      assert.strictEqual(dry.code, 0, dry.stderr)
      assert.deepStrictEqual(entriesIn(home), before)
      assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 0)

      const done = await ask(`setup-${id}`, "--json")
      assert.strictEqual(done.code, 0, done.stderr)
      const { files, model } = JSON.parse(done.stdout)
      assert.strictEqual(model, "auto")
      assert.isAbove(files.length, 0)
      const { keys } = await gateway.manage("GET", "/api/keys")
      assert.lengthOf(keys, 1)
      assert.match(keys[0].name, new RegExp(`^${name} on `))
      assert.includeMembers(keys[0].allowedModels, ["openai/gpt-4o"])
      const texts = files.map(({ path }: { readonly path: string }) => readFileSync(path, "utf8"))
      const secret = /gw_\w+/.exec(texts.join("\n"))?.[0] ?? assert.fail("no key was written")
      // What is printed does not show it.
      assert.notInclude(done.stdout, secret)
      for (const { path } of files) {
        if (readFileSync(path, "utf8").includes(secret)) assert.strictEqual(statSync(path).mode & 0o777, 0o600, path)
      }
      const models = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
      assert.strictEqual(models.status, 200)

      const again = await ask(`setup-${id}`, "--json")
      assert.isTrue(JSON.parse(again.stdout).files.every(({ changed }: { readonly changed: boolean }) => !changed))
      assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 1)

      const undone = await ask(`setup-${id}`, "--undo", "--json")
      assert.strictEqual(undone.code, 0, undone.stderr)
      assert.isTrue(JSON.parse(undone.stdout).keyRevoked)
      assert.deepStrictEqual(entriesIn(home), before)
      assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 0)
      const twice = await ask(`setup-${id}`, "--undo")
      assert.strictEqual(twice.code, 2)
    })
  }

  scenario("leaves no folder of several tools, in whatever order they are undone", async ({ ask, home, write }) => {
    write(".config/mine/settings.json", "{}")
    const before = entriesIn(home)
    const tools = ["crush", "goose", "claude", "opencode"]
    for (const order of [tools, tools.toReversed()]) {
      for (const id of tools) assert.strictEqual((await ask(`setup-${id}`)).code, 0)
      for (const id of order) assert.strictEqual((await ask(`setup-${id}`, "--undo")).code, 0)
      assert.deepStrictEqual(entriesIn(home), before)
    }
  })

  scenario("keeps folders that hold something of the user's", async ({ ask, home, write }) => {
    assert.strictEqual((await ask("setup-crush")).code, 0)
    write(".config/crush/notes.txt", "mine")
    assert.strictEqual((await ask("setup-crush", "--undo")).code, 0)
    assert.deepStrictEqual(entriesIn(home), [".config", ".config/crush", ".config/crush/notes.txt"])
  })

  scenario("names only models that can converse, in files and for the key", async ({ ask, gateway, home }) => {
    const others = [
      "text-embedding-3-small",
      "gpt-image-1",
      "gpt-4o-mini-tts",
      "whisper-1",
      "gpt-4o-transcribe",
      "omni-moderation-latest",
      "sora-2",
      "rerank-2.5",
      "suno-v4",
      "gpt-realtime"
    ]
    const account = { provider: "groq", name: "w", apiKey: "k", models: ["llama-3.3-70b-versatile", ...others] }
    await gateway.manage("POST", "/api/providers", account)
    await gateway.manage("POST", "/api/providers", { provider: "assemblyai", name: "a", apiKey: "k" })
    const combo = { strategy: "priority", targets: [{ model: "groq/text-embedding-3-small" }] }
    await gateway.manage("POST", "/api/combos", { ...combo, name: "vectors" })
    await gateway.manage("POST", "/api/combos", { ...combo, name: "talks", targets: [{ model: "openai/gpt-4o" }] })
    for (const [id, file] of [
      ["opencode", ".config/opencode/opencode.json"],
      ["droid", ".factory/settings.json"]
    ] as const) {
      assert.strictEqual((await ask(`setup-${id}`)).code, 0)
      const text = readFileSync(join(home, file), "utf8")
      for (const model of [...others, "assemblyai/", "vectors"]) assert.notInclude(text, model)
      for (const model of ["groq/llama-3.3-70b-versatile", "openai/gpt-4o-mini", "talks"]) assert.include(text, model)
    }
    const [{ allowedModels }] = (await gateway.manage("GET", "/api/keys")).keys
    assert.sameMembers(allowedModels, ["openai/gpt-4o", "openai/gpt-4o-mini", "groq/llama-3.3-70b-versatile", "talks"])
    // A key that may not manage lists what it may ask for.
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "plain" })
    const words = ["setup-pi", "--url", gateway.url, "--gateway-key", secret, "--api-key", secret]
    assert.strictEqual((await Effect.runPromise(typed(words, null))).code, 0)
    const listed = readFileSync(join(home, ".pi/agent/models.json"), "utf8")
    for (const model of [...others, "assemblyai/"]) assert.notInclude(listed, `"${model}`)
    for (const model of others) assert.notInclude(listed, model)
    const named = await ask("setup-pi", "--model", "groq/rerank-2.5")
    assert.strictEqual(named.code, 2)
    assert.match(named.stderr, /groq\/rerank-2.5/)
    assert.strictEqual((await ask("setup-pi", "--only", "groq/rerank*")).code, 2)
  })

  scenario("keeps what is in a file, and gives it back to the byte", async ({ ask, home, write }) => {
    const text =
      '// mine\n{\n\t"theme": "dark", // stays\n\t"env": { "OTHER": "1", "ANTHROPIC_MODEL": "claude-x" },\n}\n'
    const file = write(".claude/settings.json", text)
    chmodSync(file, 0o644)
    assert.strictEqual((await ask("setup-claude", "--model", "openai/gpt-4o")).code, 0)
    const after = readFileSync(file, "utf8")
    for (const part of ["// mine", '"theme": "dark", // stays', '"OTHER": "1"', '"ANTHROPIC_MODEL": "openai/gpt-4o"']) {
      assert.include(after, part)
    }
    assert.lengthOf(
      filesIn(join(home, ".claude")).filter((name) => name.endsWith(".gateway.bak")),
      1
    )
    assert.strictEqual((await ask("setup-claude", "--undo")).code, 0)
    assert.strictEqual(readFileSync(file, "utf8"), text)
    assert.strictEqual(statSync(file).mode & 0o777, 0o644)
  })

  scenario("leaves what the user has changed since", async ({ ask, write }) => {
    const file = write(".claude/settings.json", '{ "theme": "dark" }\n')
    await ask("setup-claude")
    writeFileSync(file, readFileSync(file, "utf8").replace('"dark"', '"light"'))
    assert.strictEqual((await ask("setup-claude", "--undo")).code, 0)
    assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), { theme: "light" })
  })

  scenario("refuses files that it must not write, and makes no key", async ({ ask, gateway, home, write }) => {
    const outside = join(root, "outside.json")
    writeFileSync(outside, "{}")
    const cases: ReadonlyArray<readonly [what: RegExp, make: (path: string) => void]> = [
      [/is no JSON: .* in line \d/, (path) => void writeFileSync(path, '{\n "a": \n')],
      [/is larger than/, (path) => void writeFileSync(path, " ".repeat(maxConfigBytes + 1))],
      [/is read-only/, (path) => void writeFileSync(path, "{}", { mode: 0o400 })],
      [/leads out of the home folder/, (path) => void symlinkSync(outside, path)],
      [/leads nowhere/, (path) => void symlinkSync(join(home, "none"), path)],
      [/is a folder/, (path) => void mkdirSync(path)],
      [/no text in UTF-8/, (path) => void writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]))]
    ]
    const file = write(".claude/settings.json", "")
    for (const [what, make] of cases) {
      rmSync(file, { recursive: true, force: true })
      make(file)
      const { code, stderr } = await ask("setup-claude")
      assert.strictEqual(code, 1, String(what))
      assert.match(stderr, what)
      assert.match(stderr, /Nothing was changed/)
    }
    assert.strictEqual(readFileSync(outside, "utf8"), "{}")
    assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 0)
    assert.deepStrictEqual(filesIn(join(home, ".claude")), ["settings.json"])
  })

  scenario(
    "follows a link within the home folder, and writes a file whole or not at all",
    async ({ ask, home, write }) => {
      const real = write("dotfiles/claude.json", '{ "theme": "dark" }\n')
      mkdirSync(join(home, ".claude"))
      symlinkSync(real, join(home, ".claude/settings.json"))
      assert.strictEqual((await ask("setup-claude")).code, 0)
      assert.include(readFileSync(real, "utf8"), "ANTHROPIC_BASE_URL")
      // The second file of the tool cannot be written: the first one is as it was.
      write(".gemini/.env/in-the-way", "")
      write(".gemini/settings.json", '{ "theme": "dark" }\n')
      const { code } = await ask("setup-gemini")
      assert.strictEqual(code, 1)
      assert.strictEqual(readFileSync(join(home, ".gemini/settings.json"), "utf8"), '{ "theme": "dark" }\n')
    }
  )

  scenario(
    "uses a key that is given, chosen models, and says what is wrong with others",
    async ({ ask, gateway, home }) => {
      const { secret } = await gateway.manage("POST", "/api/keys", { name: "mine" })
      assert.strictEqual((await ask("setup-codex", "--api-key", secret, "--only", "openai/*mini")).code, 0)
      const text = readFileSync(join(home, ".codex/config.toml"), "utf8")
      assert.include(text, secret)
      assert.include(text, 'model = "openai/gpt-4o-mini"')
      assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 1)
      const unknown = await ask("setup-codex", "--model", "openai/gpt-9")
      assert.strictEqual(unknown.code, 2)
      assert.match(unknown.stderr, /offers no model 'openai\/gpt-9'/)
      assert.strictEqual((await ask("setup-codex", "--only", "nothing*")).code, 2)
      assert.strictEqual((await ask("setup-codex", "--remote", "http://127.0.0.1:1")).code, 2)
    }
  )

  scenario("makes another key where the tool's does not work any more", async ({ ask, gateway, home }) => {
    const keys = async () => (await gateway.manage("GET", "/api/keys")).keys
    const secret = () => /gw_\w+/.exec(readFileSync(join(home, ".pi/agent/models.json"), "utf8"))?.[0]
    await ask("setup-pi")
    const [first] = await keys()
    const before = secret()
    await gateway.manage("PUT", `/api/keys/${first.id}`, { isActive: false })
    const dry = await ask("setup-pi", "--dry-run", "--json")
    assert.isTrue(JSON.parse(dry.stdout).files[0].changed)
    assert.lengthOf(await keys(), 1)
    assert.strictEqual((await ask("setup-pi")).code, 0)
    // The one that does not work is gone, too.
    const [second, ...others] = await keys()
    assert.isEmpty(others)
    assert.notStrictEqual(second.id, first.id)
    assert.notStrictEqual(secret(), before)
    // A key that is given takes its place, and it ends.
    const mine = await gateway.manage("POST", "/api/keys", { name: "mine" })
    assert.strictEqual((await ask("setup-pi", "--api-key", mine.secret)).code, 0)
    assert.deepStrictEqual(
      (await keys()).map(({ name }: { readonly name: string }) => name),
      ["mine"]
    )
    assert.strictEqual((await ask("setup-pi", "--undo")).code, 0)
    assert.lengthOf(await keys(), 1)
  })

  scenario(
    "lets the key use what the tool is told of now, and takes away what is gone",
    async ({ ask, gateway, home, write }) => {
      const mine = "models:\n  - name: mine # stays\n    provider: ollama\n    model: x\n"
      write(".continue/config.yaml", mine)
      const told = () =>
        Array.from(
          readFileSync(join(home, ".continue/config.yaml"), "utf8").matchAll(/name: gateway (\S+)/g),
          ([, id]) => id
        )
      await ask("setup-continue", "--only", "openai/*mini")
      assert.deepStrictEqual(told(), ["openai/gpt-4o-mini"])
      const allowed = async () =>
        (await gateway.manage("GET", "/api/keys")).keys.map(
          ({ allowedModels }: { readonly allowedModels: ReadonlyArray<string> }) => allowedModels
        )
      assert.deepStrictEqual(await allowed(), [["openai/gpt-4o-mini"]])
      await ask("setup-continue")
      const [all] = await allowed()
      assert.includeMembers(all, ["openai/gpt-4o", "openai/gpt-4o-mini"])
      assert.includeMembers(told(), ["auto", "openai/gpt-4o", "openai/gpt-4o-mini"])
      await ask("setup-continue", "--only", "openai/gpt-4o")
      assert.deepStrictEqual(told(), ["openai/gpt-4o"])
      assert.deepStrictEqual(await allowed(), [["openai/gpt-4o"]])
      assert.include(readFileSync(join(home, ".continue/config.yaml"), "utf8"), "name: mine # stays")
      assert.strictEqual((await ask("setup-continue", "--undo")).code, 0)
      assert.strictEqual(readFileSync(join(home, ".continue/config.yaml"), "utf8"), mine)
    }
  )

  scenario("sets up what is on this machine, and says what cannot be", async ({ ask, gateway, home, write }) => {
    vi.stubEnv("PATH", join(home, "bin"))
    vi.stubEnv("CLI_PI_BIN", join(home, "elsewhere/pi-agent"))
    try {
      assert.include((await ask("setup-tools", "--yes")).stdout, "No coding tool was found")
      for (const name of ["bin/claude", "bin/crush", "elsewhere/pi-agent"])
        chmodSync(write(name, "#!/bin/sh\nexit 1\n"), 0o755)
      // Neither a file that cannot be run nor a folder is a program.
      write("bin/codex", "")
      mkdirSync(join(home, "bin/aider"))
      const before = filesIn(home)
      const listed = await ask("setup-tools", "--json")
      assert.deepStrictEqual(JSON.parse(listed.stdout), { found: ["claude", "crush", "pi"], set: [], failed: [] })
      assert.strictEqual((await ask("setup-tools", "--yes", "--dry-run")).code, 0)
      assert.deepStrictEqual(filesIn(home), before)
      write(".config/crush/crush.json", "nonsense")
      const done = await ask("setup-tools", "--yes", "--json")
      assert.strictEqual(done.code, 1)
      const { failed, set } = JSON.parse(done.stdout)
      assert.deepStrictEqual(
        set.map(({ tool }: { readonly tool: string }) => tool),
        ["claude", "pi"]
      )
      assert.match(failed[0].error, /crush\.json is no JSON/)
      assert.lengthOf((await gateway.manage("GET", "/api/keys")).keys, 2)
      assert.strictEqual((await ask("setup-tools", "--undo")).code, 2)
    } finally {
      vi.stubEnv("CLI_PI_BIN", undefined)
      vi.stubEnv("PATH", undefined)
    }
  })

  scenario("removes the profiles that are none any more", async ({ ask, gateway, home }) => {
    const account = { provider: "anthropic", name: "a", apiKey: "k", models: ["claude-sonnet-4-5"] }
    await gateway.manage("POST", "/api/providers", account)
    const profiles = () => readdirSync(join(home, ".claude/profiles")).toSorted()
    await ask("setup-claude")
    assert.lengthOf(profiles(), 2)
    await ask("setup-claude", "--only", "openai/*")
    const left = profiles().filter((name) => existsSync(join(home, ".claude/profiles", name, "settings.json")))
    assert.lengthOf(left, 1)
    await ask("setup-claude", "--undo")
    assert.deepStrictEqual(
      filesIn(join(home, ".claude")).filter((name) => !name.endsWith(".bak")),
      []
    )
  })

  scenario("tells what to type where a tool has no file", async ({ ask, gateway }) => {
    const { code, stdout } = await ask("setup-cursor", "--api-key", "gw_given")
    assert.strictEqual(code, 0)
    assert.include(stdout, `${gateway.url}/v1`)
  })
})
