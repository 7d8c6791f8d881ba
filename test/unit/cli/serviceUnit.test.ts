/** The text of the systemd unit, and whether systemd itself understands it where it is installed. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type UnitFacts, unitMark, unitProblem, unitText } from "../../../src/cli/service/Unit.ts"

const facts: UnitFacts = {
  node: process.execPath,
  nodeFlags: ["--no-allocation-site-pretenuring"],
  program: "/opt/gateway/bin/gateway",
  dataDir: "/srv/anna/.gateway",
  flags: ["--port", "8080"],
  drainMs: 10_000
}

const odd = `/srv/My "data" $HOME 100% \\ ü`

describe("the systemd unit", () => {
  it("starts this program with this data folder and these flags, and waits for the drain", () => {
    const lines = unitText(facts).split("\n")
    assert.strictEqual(lines[0], unitMark)
    assert.include(
      lines,
      `ExecStart="${process.execPath}" "--no-allocation-site-pretenuring" "/opt/gateway/bin/gateway" "serve" "--no-open" "--port" "8080"`
    )
    assert.include(lines, 'Environment="DATA_DIR=/srv/anna/.gateway"')
    assert.include(lines, "TimeoutStopSec=30")
    for (const line of ["Restart=on-failure", "NoNewPrivileges=yes", "PrivateTmp=yes", "WantedBy=default.target"])
      assert.include(lines, line)
  })

  it("quotes what systemd would read otherwise", () => {
    const text = unitText({ ...facts, program: `${odd}/gateway`, dataDir: odd })
    assert.include(text, '"/srv/My \\"data\\" $$HOME 100%% \\\\ ü/gateway"')
    assert.include(text, 'Environment="DATA_DIR=/srv/My \\"data\\" $HOME 100%% \\\\ ü"')
    assert.isNotNull(unitProblem({ ...facts, dataDir: "/srv/a\nExecStart=/bin/sh" }))
    assert.isNull(unitProblem({ ...facts, dataDir: odd }))
  })

  it("hides no temporary folder that the gateway uses", () => {
    assert.notInclude(unitText({ ...facts, dataDir: "/tmp/data" }), "PrivateTmp")
    assert.include(unitText({ ...facts, dataDir: "/tmpfs/data" }), "PrivateTmp")
  })

  const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0
  it.runIf(hasSystemd)("passes systemd's own check", () => {
    const folder = mkdtempSync(join(tmpdir(), "gateway-unit-"))
    try {
      const file = join(folder, "gateway.service")
      for (const dataDir of [facts.dataDir, odd]) {
        writeFileSync(file, unitText({ ...facts, dataDir }))
        const verified = spawnSync("systemd-analyze", ["verify", "--user", file], {
          encoding: "utf8",
          env: { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder }
        })
        assert.strictEqual(`${verified.stdout}${verified.stderr}`.trim(), "")
        assert.strictEqual(verified.status, 0)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
