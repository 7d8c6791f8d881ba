/** `npm run build:native` where something is missing; with everything there it is one call of the compiler. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const script = new URL("../../../native/tproxy/build.mjs", import.meta.url).pathname

const built = (env: Readonly<Record<string, string>>) => {
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: "utf8" })
  return { status, stderr }
}

describe.runIf(process.platform === "linux")("the build of the addon", () => {
  it("names a compiler that is missing", () => {
    const { status, stderr } = built({ PATH: "/nowhere" })
    assert.strictEqual(status, 1)
    assert.match(stderr, /no C compiler \(cc, gcc or clang\) in PATH.*CC\.\n$/)
  })

  it("names a compiler of CC that does not run", () => {
    assert.match(
      built({ PATH: process.env["PATH"] ?? "", CC: "no-such-cc" }).stderr,
      /CC names does not run: no-such-cc/
    )
  })

  it("calls the compiler once, with the headers that are named, and names headers that are missing", () => {
    const folder = mkdtempSync(join(tmpdir(), "gateway-native-"))
    try {
      const calls = join(folder, "calls")
      const compiler = join(folder, "cc")
      writeFileSync(
        compiler,
        `#!/bin/sh\ncase " $* " in *" --version "*) exit 0 ;; esac\necho "$@" >> ${calls}\nexit 3\n`,
        {
          mode: 0o755
        }
      )
      const missing = built({ PATH: folder, npm_config_nodedir: folder })
      assert.match(missing.stderr, /node_api\.h was not found/)
      assert.isFalse(existsSync(calls))
      spawnSync("mkdir", ["-p", join(folder, "include/node")])
      writeFileSync(join(folder, "include/node/node_api.h"), "")
      const { status, stderr } = built({
        PATH: `${folder}:/bin:/usr/bin`,
        npm_config_nodedir: folder,
        CC: `${compiler} -g`
      })
      assert.deepStrictEqual([status, /ended with 3/.test(stderr)], [1, true])
      const lines = readFileSync(calls, "utf8").trim().split("\n")
      assert.lengthOf(lines, 1)
      assert.match(lines[0] ?? "", /^-g .*-shared .*-I\S+include\/node -o \S+tproxy\.node \S+tproxy\.c$/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
