"""A small model of random weights."""
import datasets
import spacy
import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel
from tokenizers import Tokenizer, models, trainers

torch.manual_seed(1)
size = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, vocab_size=32)
print(BertModel(BertConfig(**size))(torch.ones(1, 4, dtype=torch.long)).last_hidden_state.shape)
gpt = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_embd=8, n_layer=1, n_head=2, n_positions=16))
print(gpt.generate(torch.ones(1, 2, dtype=torch.long), max_new_tokens=2, do_sample=False).shape)
tokenizer = Tokenizer(models.BPE())
tokenizer.train_from_iterator(["a b a b"], trainers.BpeTrainer())
print(tokenizer.encode("a b").ids, datasets.Dataset.from_dict({"a": [1]}).map(lambda row: {"b": 1}).num_rows)
print([token.lemma_ for token in spacy.blank("en")("They went home")], [token.text for token in spacy.blank("de")("Er geht.")])
