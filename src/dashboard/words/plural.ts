/** Picks the form of a word for a number, by the rules of the language that the words are in. */
const rules = new Intl.PluralRules("en")

export const plural = (value: number, forms: { readonly one: string; readonly other: string }): string =>
  rules.select(value) === "one" ? forms.one : forms.other
