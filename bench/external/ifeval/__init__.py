"""IFEval: prompts with instructions that a program can check, judged strictly or loosely.

The method is that of Zhou et al., "Instruction-Following Evaluation for Large Language Models"
(arXiv:2311.07911): 25 kinds of instructions, one to three in a prompt. Everything here is written
afresh; where a verdict differs from the published program's, docs/external-suites.md says so.
"""
