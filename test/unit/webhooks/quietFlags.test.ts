/** Quiet hours as they are typed, and as they are shown. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { quietText, readQuiet } from "../../../src/subjects/webhooks/commands/quiet.ts"
import { weekdays } from "../../../src/subjects/webhooks/entity.ts"

const read = (quiet: ReadonlyArray<string>, quietPass: ReadonlyArray<string> = [], timeZone?: string) =>
  Effect.runSync(Effect.either(readQuiet({ quiet, quietPass, timeZone: Option.fromNullable(timeZone) })))

const hoursOf = (...quiet: ReadonlyArray<string>) => {
  const found = read(quiet)
  assert(found._tag === "Right")
  return found.right.quietHours
}

describe("quiet hours that are typed", () => {
  it("are times of every day, or of those that are named", () => {
    assert.deepStrictEqual(hoursOf("22:00-7:00")?.windows, [{ from: "22:00", to: "07:00" }])
    assert.deepStrictEqual(hoursOf("fri-mon 00:00-24:00")?.windows, [
      { days: ["fri", "sat", "sun", "mon"], from: "00:00", to: "00:00" }
    ])
    assert.deepStrictEqual(
      hoursOf("Mon,wed 12:00-13:00", "sun 00:00-24:00")?.windows.map(({ days }) => days),
      [["mon", "wed"], ["sun"]]
    )
    assert.isUndefined(hoursOf())
    assert.isNull(hoursOf("none"))
  })

  it("let through severities and events", () => {
    const found = read(["22:00-07:00"], ["quota.exceeded", "error", "warning"], "Europe/Zurich")
    assert(found._tag === "Right")
    assert.strictEqual(found.right.timeZone, "Europe/Zurich")
    assert.deepInclude(found.right.quietHours, { passSeverity: "warning", passEvents: ["quota.exceeded"] })
  })

  it("are refused with what they should be", () => {
    for (const wrong of ["22:00", "noon-13:00", "mo 22:00-07:00", "mon-tue-wed 1:00-2:00", "22:00-07:00 mon"]) {
      const found = read([wrong])
      assert(found._tag === "Left", wrong)
      assert.include(found.left.message, "mon-fri 22:00-07:00")
    }
    assert.strictEqual(read([], ["error"])._tag, "Left")
  })

  it("are shown in the same words", () => {
    assert.strictEqual(quietText(null), "none")
    assert.strictEqual(
      quietText({
        windows: [
          { days: weekdays, from: "22:00", to: "07:00" },
          { days: ["sat"], from: "00:00", to: "00:00" }
        ],
        passSeverity: "error",
        passEvents: ["quota.exceeded"]
      }),
      "22:00-07:00; sat 00:00-00:00 (but error, quota.exceeded)"
    )
  })
})
