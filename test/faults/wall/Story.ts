/** The canonical answer: 60 words, some of them of more than one byte per letter, told in twelve pieces; and one tool call. */

const words =
  "Night falls over Zürich and the last tram rolls home along the quiet lake . A baker lights her oven , " +
  "folds naïve dough into crescents , and hums while façades across the street turn café gold . By six the " +
  "first crêpe is gone , the clerks arrive , and somebody counts out €4 for 🥐 and tea before the old stone school bell rings ."

export const wordList: ReadonlyArray<string> = words.split(" ").filter((word) => word !== "." && word !== ",")

/** The text that every complete answer must equal. */
export const text = `${wordList.join(" ")}.`

const perPiece = 5

/** The text as a stream tells it. */
export const pieces: ReadonlyArray<string> = Array.from({ length: Math.ceil(wordList.length / perPiece) }, (_, i) => {
  const last = (i + 1) * perPiece >= wordList.length
  return wordList.slice(i * perPiece, (i + 1) * perPiece).join(" ") + (last ? "." : " ")
})

export const tool = {
  id: "call_wall_1",
  name: "bake",
  /** JSON text, in the pieces of a stream. */
  fragments: ['{"what":"crêpe",', '"count":4,', '"notes":"thin, with ', 'lemon 🍋"}']
} as const

export const toolArguments = tool.fragments.join("")

export const usage = { in: 21, out: 77 } as const
