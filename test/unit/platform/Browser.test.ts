/** Which program opens an address in a browser, and when none is started. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { findOpener, openAddress } from "../../../src/platform/programs/Browser.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const program = (folder: string, name: string, script = "exit 0"): string => {
  const file = join(folder, name)
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

it.scoped("takes the first program of the path, and none without a screen or over ssh", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const screen = { PATH: folder, DISPLAY: ":0" }
    const of = (environment: Readonly<Record<string, string>>, platform = "linux") =>
      findOpener(new Map(Object.entries(environment)), platform)
    assert.strictEqual(yield* of(screen), "no program opens browsers here")
    const gio = program(folder, "gio")
    assert.deepStrictEqual(yield* of(screen), { command: gio, args: ["open"] })
    const xdg = program(folder, "xdg-open")
    assert.deepStrictEqual(yield* of(screen), { command: xdg, args: [] })
    assert.deepStrictEqual(yield* of({ PATH: folder, WAYLAND_DISPLAY: "wayland-0" }), { command: xdg, args: [] })
    assert.strictEqual(yield* of({ PATH: folder }), "there is no screen")
    assert.strictEqual(yield* of({ PATH: folder, DISPLAY: "" }), "there is no screen")
    for (const name of ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"]) {
      for (const platform of ["linux", "darwin", "win32"]) {
        assert.strictEqual(yield* of({ ...screen, [name]: "x" }, platform), "this is a session over ssh")
      }
    }
    assert.strictEqual(yield* of({ SYSTEMROOT: folder }, "win32"), "no program opens browsers here")
  })
)

it.scoped("hands over the address as one word, and no secret of the environment", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const told = join(folder, "told")
    const command = program(folder, "opener", `printf '%s|' "$@" > ${told}; env >> ${told}`)
    const environment = new Map([
      ["PATH", process.env["PATH"] ?? ""],
      ["DISPLAY", ":7"],
      ["GATEWAY_ADMIN_KEY", "secret-1"],
      ["OPENAI_API_KEY", "secret-2"]
    ])
    const address = "http://127.0.0.1:1/dashboard/#code=a;touch x&$(touch y)"
    assert.isTrue(yield* openAddress({ command, args: ["open"] }, environment, address))
    const text = readFileSync(told, "utf8")
    assert.isTrue(text.startsWith(`open|${address}|`), text)
    assert.include(text, "DISPLAY=:7")
    assert.notMatch(text, /secret-[12]/)
  })
)

it.scoped("says when it could not be done", () =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const failing = program(folder, "failing", "exit 3")
    assert.isFalse(yield* openAddress({ command: failing, args: [] }, new Map(), "http://x/"))
    assert.isFalse(yield* openAddress({ command: join(folder, "none"), args: [] }, new Map(), "http://x/"))
    assert.isFalse(existsSync(join(folder, "x")))
  })
)
