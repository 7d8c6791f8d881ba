/**
 * Words that indicate the task of a request, in nine languages: data of `TaskType.ts`. A word counts for every longer word that
 * begins with it ("debug", "debugging"); one that ends in `$` only for itself. Those of scripts without spaces are looked for
 * anywhere.
 */
import type { TaskType } from "../candidate/Candidate.ts"

export type NamedTask = Exclude<TaskType, "default">

export const taskWords: Readonly<Record<NamedTask, string>> = {
  debugging:
    "debug fix$ fixes$ fixing$ bug$ bugs$ bugfix error$ errors$ exception stacktrace traceback crash segfault broken failing fehler absturz kaputt " +
    "débog débug erreur plante fallo errore$ depur correg arregl erro$ erros$ falha conserta correggi отлад ошибк исправ падает",
  review:
    "review audit critique$ feedback$ begutacht überprüf bewerte relecture relire revisa revisar revisão rivedi recensi " +
    "рецензи ревью проверь",
  documentation:
    "documentation document$ docs$ docstring jsdoc readme changelog dokumentation dokumentier kommentier documente documenter " +
    "documenta documentação documentar documentazione документац документир",
  coding:
    "code$ coding implement refactor function$ functions$ class$ method$ script$ compile typescript javascript python rust$ golang " +
    "java$ sql$ regex api$ unittest programm implementier funktion$ klasse$ fonction$ codez función código programa$ " +
    "implementa função codice funzione реализу функци код$ программ",
  planning:
    "plan$ plans$ planning roadmap milestone strategy architect design$ proposal planung strategie entwurf konzept " +
    "planifi stratégie feuille$ planifica estrateg planej planeje pianific план$ стратеги спроектир",
  analysis:
    "analy compare comparison evaluate explain why$ investigate reason$ vergleich erkläre untersuch warum$ compar expliqu évalue " +
    "pourquoi$ analiz explica porque$ anális avalia spiega perché$ confronta анализ сравн объясн почему$"
}

export const taskScriptWords: Readonly<Record<NamedTask, ReadonlyArray<string>>> = {
  debugging: ["调试", "错误", "修复", "デバッグ", "エラー", "バグ", "디버그", "오류"],
  review: ["审查", "评审", "レビュー", "검토"],
  documentation: ["文档", "注释", "ドキュメント", "문서"],
  coding: ["代码", "函数", "编写", "实现", "コード", "関数", "実装", "코드", "함수"],
  planning: ["计划", "规划", "设计", "計画", "設計", "계획"],
  analysis: ["分析", "比较", "解释", "为什么", "比較", "説明", "なぜ", "분석", "설명"]
}

/** Marks of mathematics, step-by-step reasoning and expert fields, for the specificity of a request. */
export const signalWords = {
  math:
    "equation integral derivative matrix theorem proof$ prove probability calculate algebra gleichung beweis équation preuve " +
    "ecuación demuestra equação equazione уравнен докаж 方程 证明 計算",
  reasoning:
    "why$ because$ therefore tradeoff trade-off step$ deduce infer constraint hypothes weigh$ warum$ schritt pourquoi$ étape " +
    "paso$ passo$ потому 为什么 推理 なぜ",
  domain:
    "kubernetes cryptograph compiler distributed concurren consensus quantum genom clinical diagnos statut liabilit derivative " +
    "portfolio thermodynam biochem jurisdict kernel$ lock-free"
} as const
