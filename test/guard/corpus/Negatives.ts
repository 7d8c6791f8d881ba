/** What must not be found: lines of real source code and of a real lock file, and lines as logs, shops and tables have them. */
import { readFileSync } from "node:fs"
import { makeDice } from "./Positives.ts"

const root = new URL("../../../", import.meta.url)

const linesOf = (file: string, most: number): ReadonlyArray<string> =>
  readFileSync(new URL(file, root), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, most)

const sources = [
  "src/plane/failover/Failover.ts",
  "src/plane/routing/decide/Engine.ts",
  "src/wire/messages/RequestDecode.ts",
  "src/kernel/Tar.ts"
]

const hex = "0123456789abcdef"
const perKind = 200

type Dice = ReturnType<typeof makeDice>

const uuid = ({ from }: Dice): string => [8, 4, 4, 4, 12].map((length) => from(hex, length)).join("-")
const two = (dice: Dice, limit: number): string => String(1 + dice.below(limit)).padStart(2, "0")
const time = (dice: Dice): string =>
  `20${two(dice, 26)}-${two(dice, 11)}-${two(dice, 27)}T${two(dice, 22)}:${two(dice, 58)}:${two(dice, 58)}.${dice.digits(3)}Z`

const kinds: Readonly<Record<string, (dice: Dice) => string>> = {
  uuids: (dice) => `request ${uuid(dice)} took ${dice.below(900)} ms`,
  hashes: (dice) =>
    dice.one([
      `commit ${dice.from(hex, 40)}`,
      `sha256:${dice.from(hex, 64)}`,
      `md5 ${dice.from(hex, 32)}`,
      `etag W/"${dice.from(hex, 16)}"`
    ]),
  timestamps: (dice) =>
    dice.one([
      time(dice),
      `at=17${dice.digits(8)}`,
      `ts=17${dice.digits(11)}`,
      `${two(dice, 12)}/${two(dice, 28)}/2026 ${two(dice, 11)}:${two(dice, 58)}`
    ]),
  versions: (dice) =>
    dice.one([
      `v${dice.below(30)}.${dice.below(40)}.${dice.below(90)}`,
      `"pkg": "^${dice.below(30)}.${dice.below(40)}.${dice.below(90)}"`,
      `version ${dice.below(30)}.${dice.below(40)}.${dice.below(90)}.${dice.below(250)}`,
      `lib@${dice.below(9)}.${dice.below(9)}.${dice.below(9)}`,
      `Chrome/1${dice.digits(2)}.0.${1000 + dice.below(8000)}.${dice.below(200)}`
    ]),
  prices: (dice) =>
    dice.one([
      `$${dice.below(9000)}.${dice.digits(2)}`,
      `EUR ${1 + dice.below(9)}.${dice.digits(3)},${dice.digits(2)}`,
      `total: ${dice.digits(6)}.${dice.digits(4)}`
    ]),
  orders: (dice) =>
    dice.one([
      `order #${dice.digits(8)}`,
      `Order no. 9${dice.digits(9)}`,
      `invoice 2026-${dice.digits(6)}`,
      `SKU-${dice.digits(5)}-${dice.digits(4)}`,
      `tracking 1Z${dice.from("ABCDEFGHJKMN0123456789", 16)}`
    ]),
  logs: (dice) =>
    `${time(dice)} INFO  [worker-${dice.below(16)}] handled ${dice.below(9999)} rows in ${dice.below(99)}.${dice.digits(2)} s (id=${dice.digits(7)})`,
  code: (dice) =>
    dice.one([
      `std::vector<int> v${dice.below(99)}(${dice.below(9999)});`,
      `const x${dice.below(99)} = data[${dice.below(999)}] ?? 0x${dice.from(hex, 8)}`,
      `import { a${dice.below(99)} } from "@scope/pkg-${dice.below(99)}"`,
      `@Component.register("x${dice.below(99)}") class A${dice.below(99)}::B {}`,
      `.sk-${dice.one(["circle", "fold", "cube"])}-bounce { width: ${dice.below(100)}px }`,
      `git@github.com:owner/name-${dice.below(99)}.git`,
      `icon@${1 + dice.below(3)}x.png`
    ]),
  "order numbers of 16 digits": (dice) => `order ${dice.digits(16)} shipped`,
  "bare four-part versions": (dice) =>
    `upgraded to ${dice.below(12)}.${dice.below(20)}.${dice.below(40)}.${dice.below(99)}`,
  "grouped part numbers": (dice) =>
    dice.one([
      `part ${dice.digits(3)}-${dice.digits(2)}-${dice.digits(4)}`,
      `model ${dice.digits(3)}-${dice.digits(3)}-${dice.digits(4)}`
    ]),
  numbers: (dice) =>
    dice.one([
      `${dice.digits(3)},${dice.digits(3)},${dice.digits(3)}`,
      `3.${dice.digits(14)}`,
      `-${dice.below(90)}.${dice.digits(6)}, ${dice.below(180)}.${dice.digits(6)}`,
      `[${dice.digits(2)}, ${dice.digits(3)}, ${dice.digits(4)}]`
    ])
}

/** Lines by their kind. */
export const negatives: Readonly<Record<string, ReadonlyArray<string>>> = {
  "source code": sources.flatMap((file) => linesOf(file, 150)),
  "lock file": linesOf("package-lock.json", 600),
  ...Object.fromEntries(
    Object.entries(kinds).map(([kind, make], index) => {
      const dice = makeDice(1_000 + index)
      return [kind, Array.from({ length: perKind }, () => make(dice))]
    })
  )
}
