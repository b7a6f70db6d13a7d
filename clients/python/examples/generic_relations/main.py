from shop.models import ContentType, Order, Tag

order = Order.objects.create(note="first")
Tag.objects.create(target=order, name="urgent")
Tag.objects.create(target=ContentType.objects.first(), name="urgent")    # its key is a number
tagged = Order.objects.filter(tags__name="urgent")
assert list(tagged) == [order] and order.tags.get().target == order
print(tagged.explain())
