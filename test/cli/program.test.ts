import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { program, project } from "./support.ts"

const { dataDir, main, run } = program()

describe("bin/gateway", () => {
  it("says its version without loading the program", () => {
    const { version } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"))
    for (const flag of ["--version", "-v"]) {
      const { status, stderr, stdout } = spawnSync(process.execPath, [join(project, "bin/gateway"), flag], {
        encoding: "utf8"
      })
      assert.deepStrictEqual([status, stdout, stderr], [0, `${version}\n`, ""])
    }
    assert.notStrictEqual(statSync(join(project, "bin/gateway")).mode & 0o111, 0)
  })

  it("answers quickly enough to be asked often (shown, not judged)", () => {
    const command = '"$0" "$1" --version > /dev/null; times'
    const { stdout } = spawnSync("sh", ["-c", command, process.execPath, join(project, "bin/gateway")], {
      encoding: "utf8"
    })
    const cpu = stdout.trim().split("\n").at(-1) ?? ""
    console.info(`CPU of gateway --version, user and system: ${cpu}`)
    assert.match(cpu, /^\d+m[\d.]+s \d+m[\d.]+s$/)
  })
})

describe("help", () => {
  it("is plain text in a pipe, and the same for a command however it is asked for", async () => {
    const DATA_DIR = dataDir()
    const asked = await run(["help", "keys", "add"], { DATA_DIR })
    assert.deepStrictEqual([asked.code, asked.stderr], [0, ""])
    assert.include(asked.stdout, "Usage: gateway key add <name> [flags]")
    assert.notInclude(asked.stdout, "\u001b")
    assert.deepStrictEqual(await run(["key", "add", "--help"], { DATA_DIR }), asked)
  })
})

describe("wrong arguments", () => {
  it.each([
    [["bogus"], "'bogus' is not a command"],
    [["serve", "--port", "70000"], "--port"],
    [["serve", "--bogus"], "--bogus"],
    [["status", "--url", "nowhere"], "nowhere"],
    [["logs", "--limit", "0"], "--limit"],
    [["env", "set", "PORT", "many"], "PORT"],
    [["env", "set", "DATA_DIR", "/"], "DATA_DIR"],
    [["providers", "test", "nobody"], "no connection 'nobody'"],
    [["resilience", "clear"], "--all"],
    [["resilience", "clear", "--all", "--connection", "x"], "--all"],
    [["resilience", "clear", "--model", "x"], "--provider"],
    [["setup"], "--non-interactive"],
    [["setup", "--non-interactive", "--add-provider"], "--provider"],
    [["setup", "--non-interactive", "--provider", "nobody"], "nobody"],
    [["setup", "--non-interactive", "--password", "short"], "password"],
    [["keys", "add", "x", "--local", "--expires", "soon"], "--expires"]
  ])("%j exits 2 and says why", async (args, words) => {
    const { code, stderr, stdout } = await run(args, { DATA_DIR: dataDir() })
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.include(stderr, words)
  })

  it("names a wrong variable and exits 1", async () => {
    const { code, stderr } = await run(["config", "show"], { DATA_DIR: dataDir(), PORT: "many" })
    assert.strictEqual(code, 1)
    assert.include(stderr, "PORT")
  })
})

describe("without a server", () => {
  it("commands for a running gateway exit 3 and name the address", async () => {
    const environment = { DATA_DIR: dataDir(), GATEWAY_URL: "http://127.0.0.1:9" }
    for (const args of [
      ["status"],
      ["health"],
      ["keys", "list"],
      ["models"],
      ["logs"],
      ["combo", "list"],
      ["provider", "list"],
      ["resilience", "status"],
      ["resilience", "cooldowns"]
    ]) {
      const { code, stderr, stdout } = await run([...args, "--json"], environment)
      assert.deepStrictEqual([code, stdout], [3, ""], args.join(" "))
      assert.include(stderr, "http://127.0.0.1:9")
    }
  })

  it("sets up, lists and validates on the data folder alone", async () => {
    const environment = { DATA_DIR: dataDir(), GATEWAY_API_KEY: "sk-test-0123456789abcdef" }
    const setup = await run(
      [
        "setup",
        "--non-interactive",
        "--password",
        "long enough",
        "--add-provider",
        "--provider",
        "openai",
        "--provider-name",
        "work"
      ],
      environment
    )
    assert.deepStrictEqual([setup.code, setup.stdout], [0, ""], setup.stderr)

    const listed = await run(["providers", "list", "--json"], environment)
    assert.strictEqual(listed.code, 0)
    const [connection] = JSON.parse(listed.stdout).connections
    assert.deepInclude(connection, { provider: "openai", name: "work", source: "db" })
    assert.notInclude(listed.stdout, "0123456789")

    const validated = await run(["providers", "validate", "--offline", "--json"], environment)
    assert.strictEqual(validated.code, 0)
    assert.deepStrictEqual(JSON.parse(validated.stdout).results[0].problems, [])

    const reset = await run(["reset-encrypted-columns"], environment)
    assert.strictEqual(reset.code, 0)
    assert.strictEqual((await run(["providers", "validate", "--offline"], environment)).code, 0)
    assert.strictEqual((await run(["reset-encrypted-columns", "--force"], environment)).code, 0)
    assert.strictEqual((await run(["providers", "validate", "--offline"], environment)).code, 1)
  })

  it.each([
    ["REQUIRE_API_KEY", "maybe"],
    ["GATEWAY_ENV_CONNECTIONS", "maybe"],
    ["GATEWAY_ADMIN_KEY", "short"],
    ["GATEWAY_ADMIN_PASSWORD", "short"]
  ])("refuses %s=%s in the settings, and to start with it in the environment", async (name, value) => {
    const DATA_DIR = dataDir()
    const refused = await run(["env", "set", name, value], { DATA_DIR })
    assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
    assert.include(refused.stderr, name)
    const started = await run(["serve", "--port", "0"], { DATA_DIR, [name]: value })
    assert.deepStrictEqual([started.code, started.stdout], [1, ""])
    assert.include(started.stderr, name)
  })

  it("saves no connection that the API forbids, and takes no key of a gateway for a provider's", async () => {
    const environment = { DATA_DIR: dataDir(), GATEWAY_API_KEY: "gw_0123456789" }
    const setup = (...more: ReadonlyArray<string>) =>
      run(["setup", "--non-interactive", "--provider", "ollama", ...more], environment)
    for (const [more, words] of [
      [["--provider-base-url", "http://169.254.169.254/v1"], "baseUrl"],
      [["--api-key", "gw_0123456789"], "--api-key: the key is one of a gateway"]
    ] as const) {
      const refused = await setup(...more)
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.include(refused.stderr, words)
    }
    const kept = await setup()
    assert.strictEqual(kept.code, 0, kept.stderr)
    assert.notInclude(kept.stderr, "Connected")
    const { connections } = JSON.parse((await run(["providers", "list", "--json"], environment)).stdout)
    assert.strictEqual(connections.length, 1)
    assert.isNull(connections[0].apiKey)
  })

  it("lists the catalogue, filtered", async () => {
    const { code, stdout } = await run(["providers", "available", "--search", "anthropic", "--json"], {
      DATA_DIR: dataDir()
    })
    assert.strictEqual(code, 0)
    const ids = JSON.parse(stdout).providers.map((provider: { readonly id: string }) => provider.id)
    assert.include(ids, "anthropic")
    assert.notInclude(ids, "openai")
    const local = await run(["providers", "available", "--category", "local", "--json"], { DATA_DIR: dataDir() })
    for (const provider of JSON.parse(local.stdout).providers) assert.strictEqual(provider.category, "local")
  })

  it("keeps settings that the next start reads, below the environment", async () => {
    const DATA_DIR = dataDir()
    assert.strictEqual((await run(["env", "set", "PORT", "20999"], { DATA_DIR })).code, 0)
    assert.strictEqual(
      (await run(["env", "set", "GATEWAY_ADMIN_KEY", "secret-admin-of-the-test"], { DATA_DIR })).code,
      0
    )
    assert.strictEqual((await run(["env", "get", "PORT"], { DATA_DIR })).stdout, "20999\n")
    assert.strictEqual((await run(["env", "get", "PORT"], { DATA_DIR, PORT: "1" })).stdout, "1\n")
    const hidden = await run(["env", "get", "GATEWAY_ADMIN_KEY"], { DATA_DIR })
    assert.deepStrictEqual([hidden.code, hidden.stdout], [2, ""])
    assert.notInclude(hidden.stderr, "secret-admin")
    const revealed = await run(["env", "get", "GATEWAY_ADMIN_KEY", "--reveal"], { DATA_DIR })
    assert.strictEqual(revealed.stdout, "secret-admin-of-the-test\n")
    const config = JSON.parse((await run(["config", "show", "--json"], { DATA_DIR })).stdout)
    assert.deepInclude(config, { port: 20_999, adminKeySet: true })
    const shown = await run(["env", "show"], { DATA_DIR })
    assert.notInclude(shown.stdout, "secret-admin")
    assert.strictEqual((await run(["env", "set", "PORT", ""], { DATA_DIR })).code, 0)
    assert.strictEqual((await run(["env", "get", "PORT"], { DATA_DIR })).code, 1)
  })

  it("survives a reader that goes away", () => {
    const piped = spawnSync("sh", ["-c", '"$0" "$1" providers available | head -1', process.execPath, main], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, DATA_DIR: dataDir() }
    })
    assert.deepStrictEqual([piped.status, piped.stderr], [0, ""])
    assert.match(piped.stdout, /^ID +NAME/)
  })
})
