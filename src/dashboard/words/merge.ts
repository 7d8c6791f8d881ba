/** Words of merging two edits. */
import { plural } from "./plural.ts"

export const words = {
  title: (name: string): string => `“${name}” was changed by somebody else`,
  means:
    "Nothing is saved yet. What only one of you has changed is chosen already; where both have changed a field, choose.",
  field: "Field",
  mine: "Yours",
  theirs: "Stored now",
  nothing: "not there",
  choose: "choose",
  openCount: (value: number): string =>
    plural(value, { one: "1 field needs your choice", other: `${value} fields need your choice` }),
  allChosen: "Every field is chosen.",
  same: "Both of you made the same changes. There is nothing to choose.",
  save: "Save this",
  back: "Go on editing",
  gone: "It was deleted meanwhile. What you typed is still here.",
  changed: "It was changed by somebody else since you opened it.",
  compare: "Compare",
  saved: (name: string): string => `Saved: ${name}.`
} as const
