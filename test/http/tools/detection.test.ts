/** What is found of tools and agents on the machine: real programs, also ones that lie, never end or print without end. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as TestGateway from "../../support/TestGateway.ts"
import { temporaryFolder } from "../../unit/store/fixtures.ts"

const password = "correct horse battery staple"

interface Setting {
  readonly gateway: TestGateway.TestGateway
  readonly bin: string
  readonly home: string
  readonly program: (name: string, script: string, mode?: number) => string
}

const scenario = (name: string, run: (setting: Setting) => Promise<void>): void => {
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const [bin, home] = [join(folder, "bin"), join(folder, "home")]
      for (const each of [bin, home]) mkdirSync(each)
      const environment = new Map([
        ["PATH", `${bin}:/usr/bin:/bin`],
        ["HOME", home]
      ])
      const gateway = yield* TestGateway.start({ environment, adminPassword: Redacted.make(password) })
      const program: Setting["program"] = (file, script, mode = 0o755) => {
        const path = join(bin, file)
        writeFileSync(path, script)
        chmodSync(path, mode)
        return path
      }
      yield* Effect.promise(() => run({ gateway, bin, home, program }))
    })
  )
}

const sh = (body: string): string => `#!/bin/sh\n${body}\n`

const session = async (url: string): Promise<Record<string, string>> => {
  const answer = await fetch(`${url}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ password })
  })
  const { csrfToken } = (await answer.json()) as { readonly csrfToken: string }
  return { cookie: (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "", "x-csrf-token": csrfToken }
}

describe("coding tools on the machine", () => {
  scenario(
    "are found with their version, and say what is wrong with them",
    async ({ bin, gateway: { manage, url }, home, program }) => {
      program("claude", sh('echo "2.1.197 (Claude Code)"'))
      program("codex", sh('[ "$#" = 1 ] && [ "$1" = "--version" ] && echo "codex-cli 0.169.0-alpha.1" >&2'))
      program("aider", sh("echo I am the best tool"))
      program("goose", sh("exit 3"))
      program("opencode", "no program at all", 0o755)
      program("qwen", sh("echo 1.0.0"), 0o644)
      program("crush", sh("yes 1.2.3"))
      program("pi", sh('env | grep -c GATEWAY_ADMIN_KEY; echo "0.73.1"'))
      mkdirSync(join(home, ".claude"))
      writeFileSync(join(home, ".claude/settings.json"), JSON.stringify({ env: { ANTHROPIC_BASE_URL: url } }))
      mkdirSync(join(home, ".codex"))
      writeFileSync(join(home, ".codex/config.toml"), 'base_url = "http://127.0.0.1:9999/v1"\n')
      mkdirSync(join(home, ".qwen/settings.json"), { recursive: true })

      const statuses = await manage("GET", "/api/cli-tools/all-statuses")
      assert.deepInclude(statuses.claude.detection, {
        installed: true,
        runnable: true,
        version: "2.1.197",
        command: "claude",
        commandPath: join(bin, "claude")
      })
      assert.strictEqual(statuses.claude.config.status, "configured")
      assert.strictEqual(statuses.claude.config.endpoint, url)
      assert.isString(statuses.claude.config.lastConfiguredAt)
      assert.strictEqual(statuses.codex.detection.version, "0.169.0-alpha.1")
      assert.strictEqual(statuses.codex.config.status, "other")
      assert.deepInclude(statuses.aider.detection, { installed: true, runnable: true, reason: "says no version" })
      assert.strictEqual(statuses.aider.config.status, "not_configured")
      assert.deepInclude(statuses.goose.detection, { installed: true, runnable: false, reason: "ended with 3" })
      assert.deepInclude(statuses.opencode.detection, { installed: true, runnable: false })
      assert.isFalse(statuses.qwen.detection.installed)
      assert.match(statuses.qwen.error, /is a folder/)
      assert.deepInclude(statuses.crush.detection, { runnable: false, reason: "printed more than a version" })
      assert.strictEqual(statuses.pi.detection.version, "0.73.1")
      assert.strictEqual(statuses.droid.config.status, "not_installed")

      // An address elsewhere is another one too, in every form of file and whatever the member is called.
      const statusOf = async (tool: string) => (await manage("GET", "/api/cli-tools/all-statuses"))[tool].config.status
      for (const [tool, file, text, status] of [
        ["codex", ".codex/config.toml", 'base_url = "https://relay.example.com/v1"\n', "other"],
        ["claude", ".claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "https://relay.example.com"}}', "other"],
        ["claude", ".claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "http://172.20.0.9:8080"}}', "other"],
        ["claude", ".claude/settings.json", '{"$schema": "https://json.schemastore.org/x.json"}', "not_configured"],
        ["aider", ".aider.conf.yml", "openai-api-base: https://relay.example.com/v1\n", "other"],
        ["aider", ".aider.conf.yml", "# see https://aider.chat/docs\nmodel: gpt-4o\n", "not_configured"]
      ] as const) {
        writeFileSync(join(home, file), text)
        assert.strictEqual(await statusOf(tool), status, text)
      }

      // Files are read again when they change, programs when they are asked for by name.
      writeFileSync(join(home, ".codex/config.toml"), `base_url = "${url}/v1"\n`)
      program("goose", sh("echo 1.9.0"))
      const again = await manage("GET", "/api/cli-tools/all-statuses")
      assert.strictEqual(again.codex.config.status, "configured")
      assert.isFalse(again.goose.detection.runnable)
      assert.strictEqual((await manage("GET", "/api/cli-tools/runtime/goose")).version, "1.9.0")
      const { tools } = await manage("GET", "/api/cli-tools")
      assert.strictEqual(tools.length, 30)
      const unknown = await fetch(`${url}/api/cli-tools/runtime/cluade`, {
        headers: { authorization: `Bearer ${TestGateway.adminKey}` }
      })
      assert.strictEqual(unknown.status, 404)
      assert.match(await unknown.text(), /Did you mean 'claude'/)
      assert.strictEqual((await fetch(`${url}/api/cli-tools/all-statuses`)).status, 401)
    }
  )

  scenario("do not hold up the others when one never ends", async ({ gateway: { manage }, program }) => {
    program("claude", sh("sleep 1000"))
    program("codex", sh("echo 1.0.0"))
    const statuses = await manage("GET", "/api/cli-tools/all-statuses")
    assert.strictEqual(statuses.claude.detection.reason, "gave no version within 5 seconds")
    assert.strictEqual(statuses.codex.detection.version, "1.0.0")
  })
})

describe("ACP agents", () => {
  scenario(
    "are listed, and added by a person at the machine only",
    async ({ bin, gateway: { manage, url }, program }) => {
      program("claude", sh("echo 2.1.197"))
      const marker = join(bin, "was-run-with")
      const mine = program("mine", sh(`echo "$@" >> ${marker}; echo 0.1.0`))
      const before = await manage("GET", "/api/acp/agents")
      assert.deepStrictEqual(before.summary, { total: 13, installed: 1, notFound: 12, builtIn: 13, custom: 0 })
      assert.deepInclude(before.agents, {
        id: "claude",
        name: "Claude Code",
        binary: "claude",
        version: "2.1.197",
        installed: true,
        protocol: "stdio",
        isCustom: false
      })
      const post = async (body: object, headers: Record<string, string>) =>
        fetch(`${url}/api/acp/agents`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body)
        })
      const agent = { id: "mine", name: "Mine", binary: mine, spawnArgs: ["--acp; rm -rf /"] }
      // Neither the admin key nor a session from elsewhere may name a program.
      const byKey = await post(agent, { authorization: `Bearer ${TestGateway.adminKey}` })
      assert.strictEqual(byKey.status, 403)
      assert.match(await byKey.text(), /session_required/)
      const own = await session(url)
      const forwarded = await post(agent, { ...own, "x-forwarded-for": "203.0.113.9" })
      assert.strictEqual(forwarded.status, 403)
      assert.isFalse(existsSync(marker))
      for (const [wrong, message] of [
        [{ binary: "mine" }, /absolute path/],
        [{ binary: join(bin, "none") }, /no program/],
        [{ binary: bin }, /no program/],
        [{ binary: `${mine} --evil` }, /no program/],
        [{ id: "claude" }, /known already/],
        [{ id: "Not an id" }, /lower-case/],
        [{ binary: undefined }, /missing/]
      ] as const) {
        const answer = await post({ ...agent, ...wrong }, own)
        assert.strictEqual(answer.status, 400, JSON.stringify(wrong))
        assert.match(await answer.text(), message)
      }
      const added = await post(agent, own)
      assert.strictEqual(added.status, 200, await added.clone().text())
      const { agents, summary } = (await added.json()) as {
        readonly agents: ReadonlyArray<{ readonly id: string; readonly version: string | null }>
        readonly summary: { readonly custom: number }
      }
      assert.strictEqual(summary.custom, 1)
      assert.strictEqual(agents.find(({ id }) => id === "mine")?.version, "0.1.0")
      const { readFileSync } = await import("node:fs")
      assert.strictEqual(readFileSync(marker, "utf8"), "--version\n")
      assert.strictEqual((await post(agent, own)).status, 400)
      const remove = (id: string) =>
        fetch(`${url}/api/acp/agents?id=${id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${TestGateway.adminKey}` }
        })
      assert.strictEqual((await remove("mine")).status, 204)
      assert.strictEqual((await remove("mine")).status, 404)
      assert.strictEqual((await remove("claude")).status, 404)
      const refreshed = await post({ action: "refresh" }, { authorization: `Bearer ${TestGateway.adminKey}` })
      assert.strictEqual(refreshed.status, 200)
    }
  )
})
