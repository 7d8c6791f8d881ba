/** `gateway service …` with a `systemctl` on the path that records what it is asked. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { program } from "./support.ts"

const { dataDir, main, run } = program()

/** A machine with systemd; `answer` is a shell script that gets the arguments. */
const machine = (answer: string) => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-service-"))
  const record = join(folder, "record")
  writeFileSync(join(folder, "systemctl"), `#!/bin/sh\nprintf '%s\\n' "$*" >> '${record}'\n${answer}\n`, {
    mode: 0o755
  })
  const data = dataDir()
  const unit = join(folder, "config", "systemd", "user", "gateway.service")
  const environment = {
    PATH: `${folder}:${process.env.PATH ?? ""}`,
    XDG_CONFIG_HOME: join(folder, "config"),
    DATA_DIR: data,
    GATEWAY_ENV_CONNECTIONS: "false"
  }
  return {
    data,
    unit,
    gateway: (...args: ReadonlyArray<string>) => run(args, environment),
    /** What was asked since the last time. */
    asked: (): ReadonlyArray<string> => {
      const text = existsSync(record) ? readFileSync(record, "utf8") : ""
      rmSync(record, { force: true })
      return text.split("\n").filter((line) => line !== "")
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

const working =
  "case \"$*\" in *show*) printf 'ActiveState=active\\nSubState=running\\nUnitFileState=enabled\\nMainPID=42\\n';; esac"

const on = async (answer: string, use: (at: ReturnType<typeof machine>) => Promise<void>): Promise<void> => {
  const at = machine(answer)
  try {
    await use(at)
  } finally {
    at.remove()
  }
}

const fixed = (...words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.map((word) => `--user --no-pager ${word}`)

describe("gateway service", () => {
  it("is installed once, started, shown, brought up to date and removed, and the data stays", () =>
    on(working, async ({ asked, data, gateway, unit }) => {
      const first = await gateway("service", "install", "--port", "8080")
      assert.strictEqual(first.code, 0, first.stderr)
      const text = readFileSync(unit, "utf8")
      assert.strictEqual(first.stdout, text)
      assert.include(text, `"${main}" "serve" "--no-open" "--port" "8080"`)
      assert.include(text, `DATA_DIR=${data}`)
      assert.deepStrictEqual(asked(), fixed("daemon-reload", "enable gateway.service", "restart gateway.service"))

      const again = await gateway("service", "install", "--port", "8080")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.include(again.stderr, "as it should be")
      assert.deepStrictEqual(asked(), fixed("daemon-reload", "enable gateway.service", "start gateway.service"))

      const status = await gateway("service", "status", "--json")
      assert.strictEqual(status.code, 0, status.stderr)
      assert.deepInclude(JSON.parse(status.stdout), { active: true, enabled: true, pid: 42, state: "active (running)" })
      asked()

      writeFileSync(join(data, "kept"), "")
      const removed = await gateway("service", "uninstall")
      assert.strictEqual(removed.code, 0, removed.stderr)
      assert.isFalse(existsSync(unit))
      assert.isTrue(existsSync(join(data, "kept")))
      assert.deepStrictEqual(asked(), fixed("disable --now gateway.service", "daemon-reload"))

      assert.strictEqual((await gateway("service", "uninstall")).code, 0)
      const gone = await gateway("service", "status")
      assert.strictEqual(gone.code, 1)
      assert.include(gone.stderr, "gateway service install")
    }))

  it("--print prints the unit and changes nothing", () =>
    on(working, async ({ asked, gateway, unit }) => {
      const { code, stdout } = await gateway("service", "install", "--print", "--host", "127.0.0.2")
      assert.strictEqual(code, 0)
      assert.include(stdout, '"--host" "127.0.0.2"')
      assert.isFalse(existsSync(unit))
      assert.deepStrictEqual(asked(), [])
    }))

  it("says what to type where systemd cannot be asked", () =>
    on("echo 'Failed to connect to bus: No medium found' >&2; exit 1", async ({ gateway, unit }) => {
      const { code, stderr } = await gateway("service", "install")
      assert.strictEqual(code, 0, stderr)
      assert.isTrue(existsSync(unit))
      assert.include(stderr, "No medium found")
      assert.include(stderr, "systemctl --user daemon-reload && systemctl --user enable --now gateway.service")
      assert.strictEqual((await gateway("service", "status")).code, 1)
    }))

  it("tells by its exit code that an installed service does not run, and that a start failed", () =>
    on(
      "case \"$*\" in *show*) echo ActiveState=failed;; *restart*) echo 'Job failed' >&2; exit 1;; esac",
      async ({ gateway }) => {
        const failed = await gateway("service", "install")
        assert.strictEqual(failed.code, 1)
        assert.match(failed.stderr, /restart gateway\.service failed: Job failed\n.*journalctl --user/)
        const { code, stderr } = await gateway("service", "status")
        assert.strictEqual(code, 3)
        assert.include(stderr, "systemctl --user start gateway.service")
      }
    ))

  it("leaves a unit alone that it did not write", () =>
    on(working, async ({ asked, gateway, unit }) => {
      mkdirSync(dirname(unit), { recursive: true })
      writeFileSync(unit, "[Service]\nExecStart=/bin/true\n")
      for (const command of ["install", "status", "uninstall"]) {
        const { code, stderr } = await gateway("service", command)
        assert.strictEqual(code, 1)
        assert.include(stderr, "Move it away")
      }
      assert.strictEqual(readFileSync(unit, "utf8"), "[Service]\nExecStart=/bin/true\n")
      assert.deepStrictEqual(asked(), [])
    }))
})
