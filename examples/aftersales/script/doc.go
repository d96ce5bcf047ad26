// Package script is a model that needs no provider: a clerk by rule, in Chinese and English, for the aftersales example and its
// tests.
//
// It reads the prompt and nothing else: what the user says, what is remembered of them and what documents say, the session state and the
// pins in the system message, the messages before, the results of this turn's calls. It keeps nothing between two calls. So what an assembler leaves out of the prompt is
// missing in the answer, and a test that reads the answers tests the prompts.
package script
