/** Placeholders of prompt templates: what a program puts its own text in the place of. Pure. */

/** `{{name}}`, `{{ user.name }}`, `{% if x %}`, `${name}`, `{name}`. Bounded, so that no text takes more than linear time. */
const placeholder = /\{\{[^{}\n]{1,200}\}\}|\{%[^{}\n]{1,200}%\}|\$\{[^{}\n]{1,200}\}|\{[A-Za-z_][\w.-]{0,63}\}/g

/** Each once, in the order in which they come. */
export const placeholdersIn = (text: string): ReadonlyArray<string> => [
  ...new Set(Array.from(text.matchAll(placeholder), ([found]) => found))
]

/** Lists the placeholders of `before` that `after` does not have, letter by letter. */
export const lostPlaceholders = (before: string, after: string): ReadonlyArray<string> =>
  placeholdersIn(before).filter((each) => !after.includes(each))
