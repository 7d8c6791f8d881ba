import { assert, describe, it } from "@effect/vitest"
import { chosen, type Choice, enginesFor } from "../../../src/plane/compression/Modes.ts"
import {
  type CompressionCombo,
  defaultCavemanSettings
} from "../../../src/subjects/compression/entity/CompressionProfiles.ts"
import { defaultCompressionSettings } from "../../../src/subjects/compression/entity.ts"

const combo = (name: string, others: Partial<CompressionCombo> = {}): CompressionCombo => ({
  id: `id-${name}`,
  name,
  pipeline: [{ engine: "lite" }],
  isActive: false,
  routingComboIds: [],
  createdAtMs: 0,
  updatedAtMs: 0,
  ...others
})

const combos = [
  combo("Logs"),
  combo("off", { pipeline: [{ engine: "ultra" }] }),
  combo("routed", { pipeline: [{ engine: "rtk" }], routingComboIds: ["fast"] }),
  combo("active", { pipeline: [{ engine: "aggressive" }], isActive: true })
]
const on = { ...defaultCompressionSettings, enabled: true }
const none = { combos: [], routingComboId: null }
const asked = (header: string | null, routingComboId: string | null = null): Choice =>
  chosen(on, { combos, routingComboId }, header, () => 1_000)
const told = ({ mode, pipeline, source }: Choice): string =>
  `${mode}; source=${source}; ${pipeline.map(({ engine }) => engine).join(" ")}`

describe("what a request passes", () => {
  it("is what the header says before anything else", () => {
    assert.strictEqual(told(asked("OFF", "fast")), "off; source=request-header; ")
    assert.strictEqual(told(asked("default", "fast")), "stacked; source=request-header; rtk caveman")
    assert.strictEqual(told(asked("engine:caveman", "fast")), "standard; source=request-header; caveman")
    assert.strictEqual(told(asked("engine:ultra", "fast")), "ultra; source=request-header; ultra")
    assert.strictEqual(told(asked("lOGS", "fast")), "stacked; source=request-header; lite")
    assert.strictEqual(told(asked("id-off", "fast")), "stacked; source=request-header; ultra")
  })

  it("is a combo where the settings name one that is there", () => {
    const by = (name: string, header: string | null = null, settings: object = {}): string =>
      told(
        chosen(
          { ...on, combo: name, ...settings },
          { combos: combos.slice(0, 2), routingComboId: null },
          header,
          () => 10
        )
      )
    assert.strictEqual(by("logs"), "stacked; source=default; lite")
    assert.strictEqual(by("logs", "default"), "stacked; source=request-header; lite")
    assert.strictEqual(by("logs", null, { autoTriggerTokens: 5 }), "stacked; source=auto-trigger; lite")
    assert.strictEqual(by("gone"), "stacked; source=default; rtk caveman")
    assert.strictEqual(by("gone", null, { engine: "off" }), "off; source=off; ")
  })

  it("is not what a header says that is not known", () => {
    for (const header of ["no-such", "engine:no-such", "", "engine:", "x".repeat(1_000)]) {
      assert.strictEqual(told(asked(header, "fast")), "stacked; source=routing-override; rtk")
    }
  })

  it("is then the routing combo's, the active profile's, that of large requests, and the panel's", () => {
    assert.strictEqual(told(asked(null, "fast")), "stacked; source=routing-override; rtk")
    assert.strictEqual(told(asked(null, "slow")), "stacked; source=active-profile; aggressive")
    const large = { ...on, autoTriggerTokens: 1_000 }
    assert.strictEqual(told(chosen(large, none, null, () => 1_000)), "stacked; source=auto-trigger; rtk caveman")
    assert.strictEqual(told(chosen(large, none, null, () => 999)), "off; source=off; ")
    assert.strictEqual(told(chosen(on, none, null, () => 0)), "stacked; source=default; rtk caveman")
  })

  it("is nothing where it is switched off, whatever is asked for", () => {
    const off = { ...on, enabled: false }
    const choice = chosen(off, { combos, routingComboId: "fast" }, "engine:lite", () => 1_000)
    assert.strictEqual(told(choice), "off; source=off; ")
  })

  it("leaves out caveman where its settings switch it off", () => {
    const rtk = { name: "rtk", compress: () => null } as const
    const pipeline = [{ engine: "caveman" }, { engine: "lite" }] as const
    const named = (enabled: boolean): ReadonlyArray<string> =>
      enginesFor(pipeline, { caveman: { ...defaultCavemanSettings, enabled }, rtk }).map(({ name }) => name)
    assert.deepStrictEqual(named(true), ["caveman", "lite"])
    assert.deepStrictEqual(named(false), ["lite"])
  })
})
